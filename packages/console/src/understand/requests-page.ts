// The last requests of this tab, each as a curl and a clusterctl command.

import { button, element, replaceChildren } from '../dom/element.js'
import { plainTable } from '../object/overview.js'
import type { RecordedRequest } from '../session/recorded-requests.js'
import type { PageContext } from '../shell/page-context.js'
import { bytesText, timeText } from '../ui/format.js'
import { asClusterctl, asCurl } from './request-commands.js'

const redrawMs = 250

export function showRequests(host: HTMLElement, { session, signal }: PageContext): void {
  const body = element('div')
  const command = element('pre', { class: 'command', hidden: true })
  replaceChildren(
    host,
    element('header', { class: 'page-head' }, element('h1', {}, 'Requests')),
    element('p', { class: 'hint' }, 'The last requests of this tab. The commands read the token from the variable TOKEN.'),
    command,
    body,
  )
  const show = (text: string): void => {
    command.hidden = false
    replaceChildren(command, text)
    command.scrollIntoView({ block: 'nearest' })
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const draw = (): void => {
    timer = undefined
    const rows = [...session.requests.list].reverse().map((request) => rowOf(request, show))
    replaceChildren(body, plainTable(['Time', 'Method', 'Path', 'Status', 'ms', 'Body', 'Command'], rows))
  }
  draw()
  const unsubscribe = session.requests.subscribe(() => {
    timer ??= setTimeout(draw, redrawMs)
  })
  signal.addEventListener('abort', () => {
    unsubscribe()
    clearTimeout(timer)
  })
}

function rowOf(request: RecordedRequest, show: (text: string) => void): HTMLElement {
  const { atMs, method, path, status, durationMs, error, isCancelled, bodyLength } = request
  return element(
    'tr',
    { class: (status ?? 0) >= 400 || (error !== undefined && !isCancelled) ? 'warning' : '' },
    element('td', {}, timeText(atMs)),
    element('td', {}, method),
    element('td', { class: 'path' }, path),
    element('td', { title: error }, status ?? (isCancelled ? 'cancelled' : error === undefined ? '…' : 'failed')),
    element('td', { class: 'figure' }, durationMs === undefined ? '' : Math.round(durationMs)),
    element('td', { class: 'figure' }, bodyLength === 0 ? '' : bytesText(bodyLength)),
    element(
      'td',
      { class: 'buttons' },
      button('curl', () => show(asCurl(location.origin, request))),
      button('clusterctl', () => show(asClusterctl(request))),
    ),
  )
}
