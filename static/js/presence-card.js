/* Refreshes the card of live presence every ten seconds while the page is seen. Without this script the page shows how
   things were when it was asked for. What did not change is left alone, and nothing is announced to screen readers. */
(() => {
  const PAUSE = 10_000
  const LONGEST_PAUSE = 160_000
  const KEPT = 60_000 // how long a card stays that cannot be refreshed
  const place = document.querySelector('[data-presence-card]')
  if (!place) return
  let pause = PAUSE
  let askedAt = Date.now()
  let knownAt = Date.now()
  let shown = ''
  let timer
  let isAsking = false

  /* No text: no card. */
  function show (text) {
    if (text !== shown || !text) {
      place.replaceChildren(...new DOMParser().parseFromString(text, 'text/html').body.children)
    }
    place.hidden = !text
    shown = text
  }

  /* A picture of the chat platform that did not arrive uncovers what stands in for it. */
  function dropBroken () {
    for (const image of place.querySelectorAll('[referrerpolicy]')) if (image.complete && !image.naturalWidth) image.remove()
  }

  /* How long until the next time; nothing: the profile is gone, and there is none. */
  async function refresh () {
    try {
      const answer = await fetch(place.dataset.presenceCard, {
        cache: 'no-store', credentials: 'omit', redirect: 'error', signal: AbortSignal.timeout(8_000)
      })
      if (answer.status === 404) return show('')
      if (answer.status === 204) show('')
      if (answer.status === 200) {
        show(await answer.text())
        knownAt = Date.now()
        return PAUSE
      }
    } catch (error) {
      console.info('The presence card could not be refreshed:', error.name)
    }
    if (Date.now() - knownAt > KEPT) show('')
    return Math.min(pause * 2, LONGEST_PAUSE)
  }

  async function ask () {
    isAsking = true
    askedAt = Date.now()
    pause = await refresh()
    isAsking = false
    wait()
  }

  /* One timer, and none while the page is hidden; a page that comes back asks at once when it is time. */
  function wait () {
    clearTimeout(timer)
    if (!pause || isAsking || document.visibilityState !== 'visible') return
    timer = setTimeout(ask, Math.max(0, askedAt + pause - Date.now()))
  }

  dropBroken()
  place.addEventListener('error', dropBroken, true)
  document.addEventListener('visibilitychange', wait)
  wait()
})()
