// The sign-in page, and the sign-in by a one-time code in the address, which `clusterctl console` opens.

import { isUnauthorized } from '@cluster-apiserver/client/browser.js'
import { button, element, replaceChildren } from '../dom/element.js'
import { Session } from './session.js'

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

interface SignIn {
  readonly message?: string
  readonly onExpired: () => void
}

/** Shows the page, and resolves with the session. */
export function signIn(host: HTMLElement, { message, onExpired }: SignIn): Promise<Session> {
  return new Promise((resolve) => {
    const status = element('p', { class: 'problem', role: 'alert' }, message)
    const token = element('input', {
      id: 'token',
      type: 'password',
      autocomplete: 'off',
      spellcheck: 'false',
      required: true,
      'aria-describedby': 'token-help',
    })
    const submit = button('Sign in', () => undefined, { class: 'primary' })
    submit.type = 'submit'
    const form = element(
      'form',
      {
        class: 'sign-in',
        on: {
          submit: (event) => {
            event.preventDefault()
            void open()
          },
        },
      },
      element('h1', {}, 'Console'),
      element('label', { for: 'token' }, 'Bearer token'),
      token,
      element('p', { id: 'token-help', class: 'hint' }, 'The token stays in the memory of this tab. A reload asks for it again.'),
      submit,
      status,
      element(
        'details',
        {},
        element('summary', {}, 'Where is a token?'),
        element('p', {}, 'Open the console signed in:'),
        element('pre', {}, 'clusterctl console'),
        element('p', {}, 'Or request a token of a service account:'),
        element('pre', {}, 'clusterctl create token NAME --namespace=NAMESPACE'),
      ),
    )
    replaceChildren(host, element('main', { class: 'sign-in-page' }, form))
    token.focus()

    async function open(): Promise<void> {
      const text = token.value.trim()
      if (!/^[\x21-\x7e]+$/.test(text)) {
        replaceChildren(status, 'A token has no spaces and only ASCII characters.')
        return
      }
      submit.disabled = true
      replaceChildren(status)
      try {
        const session = await Session.open(text, onExpired)
        token.value = ''
        resolve(session)
      } catch (thrown) {
        replaceChildren(status, signInProblem(thrown))
        submit.disabled = false
        token.select()
      }
    }
  })
}

export const signInProblem = (thrown: unknown): string =>
  isUnauthorized(thrown) ? 'The server does not accept this token.' : thrown instanceof Error ? thrown.message : String(thrown)
