// Shows an error of the server or of the connection; a refusal with a link to its explanation.

import { StatusError } from '@cluster-apiserver/client/browser.js'
import { element } from '../dom/element.js'
import { readRefusal } from '../understand/rbac-rules.js'
import { routeTo } from './route.js'

export function errorPanel(thrown: unknown, title: string): HTMLElement {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const details = thrown instanceof StatusError ? ` (${thrown.code} ${thrown.reason})` : ''
  const refusal = thrown instanceof StatusError && thrown.code === 403 ? readRefusal(message) : undefined
  return element(
    'div',
    { class: 'problem', role: 'alert' },
    element('strong', {}, `${title}${details}`),
    element('p', {}, message),
    refusal !== undefined && element('p', {}, element('a', { href: accessRoute(refusal) }, 'Why was this refused?')),
  )
}

function accessRoute({ question: { verb, group, resource, namespace, name } }: NonNullable<ReturnType<typeof readRefusal>>): string {
  return routeTo(['access'], { verb, resource: group === '' ? resource : `${resource}.${group}`, namespace, name })
}
