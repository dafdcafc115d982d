/* Offers passkeys in the name field's autofill, and hides their button where the browser does not know them. The password
   form works without any of it. The server's challenge comes from allauth's own endpoint, the form's action. */
(() => {
  const form = document.getElementById('mfa_login')
  const button = document.getElementById('passkey_login')
  const credential = document.getElementById('mfa_credential')
  if (!form || !button) return
  if (!window.PublicKeyCredential) {
    document.querySelector('[data-passkey-login]').hidden = true
    return
  }
  let waiting

  async function offer () {
    if (!await window.PublicKeyCredential.isConditionalMediationAvailable?.()) return
    waiting = new AbortController()
    const { signal } = waiting
    try {
      const answer = await fetch(form.action, { headers: { Accept: 'application/json' }, signal })
      if (!answer.ok) return
      const { request_options: options } = await answer.json()
      const chosen = await window.webauthnJSON.get({ ...options, mediation: 'conditional', signal })
      credential.value = JSON.stringify(chosen)
      form.submit()
    } catch (error) {
      if (!signal.aborted) console.info('Passkey autofill is off:', error.name)
    }
  }

  button.addEventListener('click', () => waiting?.abort(), { capture: true }) // a browser allows one request at a time
  document.addEventListener('allauth.error', offer)
  offer()
})()
