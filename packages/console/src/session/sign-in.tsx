// The sign-in page, and the sign-in by a one-time code in the address, which `clusterctl console` opens.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { isUnauthorized } from '@cluster-apiserver/client/browser.js'
import { useEffect, useRef, useState } from 'preact/hooks'

const exchangePath = 'exchange'

/**
 * Takes the code out of the address before anything else: it must not stay in the history. Undefined without a code.
 */
export function takeCode(): string | undefined {
  const code = /^#code=([\w-]{20,200})$/.exec(location.hash)?.[1]
  if (code !== undefined) history.replaceState(undefined, '', `${location.pathname}#/`)
  return code
}

/** Only `clusterctl console` serves this path. */
export async function exchangeCode(code: string): Promise<string> {
  const response = await fetch(exchangePath, { method: 'POST', body: code, credentials: 'omit', redirect: 'error' })
  if (!response.ok) throw new Error('the code of the address is used or expired; run `clusterctl console` again')
  return response.text()
}

interface SignInProps {
  /** Why the last session ended. */
  readonly message: string | undefined
  open(token: string): Promise<void>
}

export function SignIn({ message, open }: SignInProps) {
  const [problem, setProblem] = useState(message)
  const [isOpening, setIsOpening] = useState(false)
  const token = useRef<HTMLInputElement>(null)
  useEffect(() => token.current?.focus(), [])

  const submit = async (): Promise<void> => {
    const text = token.current?.value.trim() ?? ''
    if (!/^[\x21-\x7e]+$/.test(text)) {
      setProblem('A token has no spaces and only ASCII characters.')
      return
    }
    setIsOpening(true)
    setProblem(undefined)
    try {
      await open(text)
    } catch (thrown) {
      setProblem(signInProblem(thrown))
      setIsOpening(false)
      token.current?.select()
    }
  }
  return (
    <main class="sign-in-page">
      <form
        class="sign-in"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <h1>Console</h1>
        <label for="token">Bearer token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} required aria-describedby="token-help" ref={token} />
        <p id="token-help" class="hint">
          The token stays in the memory of this tab. A reload asks for it again.
        </p>
        <button type="submit" class="primary" disabled={isOpening}>
          Sign in
        </button>
        <p class="problem" role="alert">
          {problem}
        </p>
        <details>
          <summary>Where is a token?</summary>
          <p>Open the console signed in:</p>
          <pre>clusterctl console</pre>
          <p>Or request a token of a service account:</p>
          <pre>clusterctl create token NAME --namespace=NAMESPACE</pre>
        </details>
      </form>
    </main>
  )
}

export const signInProblem = (thrown: unknown): string =>
  isUnauthorized(thrown) ? 'The server does not accept this token.' : errorMessage(thrown)
