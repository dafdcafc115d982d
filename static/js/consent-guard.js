/* Allow does nothing for half a second after the window gains focus, so that a click or key that was meant for another
   window cannot approve an app. It stays focusable. Without this script the page works the same, without the pause. */
(() => {
  const PAUSE = 500
  const allow = document.querySelector('button[name="decision"][value="allow"]')
  let timer

  function pause () {
    allow.setAttribute('aria-disabled', 'true')
    clearTimeout(timer)
    timer = setTimeout(() => allow.removeAttribute('aria-disabled'), PAUSE)
  }

  allow.addEventListener('click', (event) => {
    if (allow.hasAttribute('aria-disabled')) event.preventDefault()
  })
  window.addEventListener('focus', pause)
  pause()
})()
