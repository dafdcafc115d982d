/* Says on the page what allauth's scripts only say in the console. */
(() => {
  const place = document.querySelector('[data-passkey-error]')
  const texts = {
    NotAllowedError: 'The request was canceled or timed out. Try again when you are ready.',
    InvalidStateError: 'This device or key is already added to your account.',
    SecurityError: 'Passkeys do not work at this address.'
  }
  document.addEventListener('allauth.error', (event) => {
    const { name } = event.detail.exception
    place.textContent = texts[name] || 'The passkey could not be used. Try again, or use another way.'
    place.hidden = false
    event.preventDefault()
  })
})()
