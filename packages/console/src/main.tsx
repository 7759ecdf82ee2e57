// Starts the console: signs in, shows the pages, and signs in again when the token expires.

import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Session } from './session/session.js'
import { SessionContext } from './session/session-context.js'
import { exchangeCode, SignIn, signInProblem, takeCode } from './session/sign-in.js'
import { clearNotices } from './shell/notices.js'
import { Shell } from './shell/shell.js'
import { showHiddenCharacters } from './ui/visible-text.js'

interface State {
  readonly session?: Session
  readonly isExchanging?: boolean
  readonly message?: string | undefined
}

function App({ code }: { readonly code: string | undefined }) {
  const [{ session, isExchanging = false, message }, setState] = useState<State>({ isExchanging: code !== undefined })
  const open = async (token: string): Promise<void> => {
    const opened: Session = await Session.open(token, () => end(opened, 'The server no longer accepts the token. Sign in again to go on.'))
    setState({ session: opened })
  }
  const end = (ended: Session, reason?: string): void => {
    ended.close()
    clearNotices()
    setState({ message: reason })
  }
  useEffect(() => {
    if (code !== undefined)
      exchangeCode(code)
        .then(open)
        .catch((thrown: unknown) => setState({ message: signInProblem(thrown) }))
  }, [])
  if (isExchanging) return null
  if (session === undefined) return <SignIn message={message} open={open} />
  return (
    <SessionContext.Provider value={session}>
      <Shell onSignOut={() => end(session)} />
    </SessionContext.Provider>
  )
}

showHiddenCharacters()
render(<App code={takeCode()} />, document.body)
