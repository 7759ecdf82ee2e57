// Starts the console: signs in, shows the pages, and signs in again when the token expires.

import { Session } from './session/session.js'
import { exchangeCode, signIn, signInProblem, takeCode } from './session/sign-in.js'
import { Shell } from './shell/shell.js'

/** Runs until the tab closes. */
async function run(code: string | undefined): Promise<void> {
  const host = document.body
  let message: string | undefined
  let token = code
  for (;;) {
    let end: (message: string | undefined) => void = () => undefined
    const ended = new Promise<string | undefined>((resolve) => {
      end = resolve
    })
    const onExpired = (): void => end('The server no longer accepts the token. Sign in again to go on.')
    let session: Session | undefined
    if (token !== undefined) {
      try {
        session = await Session.open(await exchangeCode(token), onExpired)
      } catch (thrown) {
        message = signInProblem(thrown)
      }
      token = undefined
    }
    session ??= await signIn(host, { onExpired, ...(message === undefined ? {} : { message }) })
    const shell = new Shell(host, { session, onSignOut: () => end(undefined) })
    message = await ended
    shell.close()
    session.close()
  }
}

void run(takeCode())
