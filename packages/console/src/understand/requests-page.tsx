// The last requests of this tab, each as a curl and a clusterctl command.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { RecordedRequest } from '../session/recorded-requests.js'
import { useSession } from '../session/session-context.js'
import { bytesText, timeText } from '../ui/format.js'
import { useSubscription } from '../ui/hooks.js'
import { PlainTable } from '../ui/plain-table.js'
import { asClusterctl, asCurl } from './request-commands.js'

const redrawMs = 250

export function RequestsPage() {
  const { requests } = useSession()
  const [command, setCommand] = useState<string>()
  const shown = useRef<HTMLPreElement>(null)
  useEffect(() => shown.current?.scrollIntoView({ block: 'nearest' }), [command])
  useSubscription((redraw) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const unsubscribe = requests.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined
        redraw()
      }, redrawMs)
    })
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [])
  return (
    <>
      <header class="page-head">
        <h1>Requests</h1>
      </header>
      <p class="hint">The last requests of this tab. The commands read the token from the variable TOKEN.</p>
      {command !== undefined && (
        <pre class="command" ref={shown}>
          {command}
        </pre>
      )}
      <PlainTable titles={['Time', 'Method', 'Path', 'Status', 'ms', 'Body', 'Command']}>
        {[...requests.list].reverse().map((request) => (
          <RequestRow key={request.id} request={request} show={setCommand} />
        ))}
      </PlainTable>
    </>
  )
}

function RequestRow({ request, show }: { readonly request: RecordedRequest; readonly show: (command: string) => void }) {
  const { atMs, method, path, status, durationMs, error, isCancelled, bodyLength } = request
  return (
    <tr class={(status ?? 0) >= 400 || (error !== undefined && !isCancelled) ? 'warning' : ''}>
      <td>{timeText(atMs)}</td>
      <td>{method}</td>
      <td class="path">{path}</td>
      <td title={error}>{status ?? (isCancelled ? 'cancelled' : error === undefined ? '…' : 'failed')}</td>
      <td class="figure">{durationMs === undefined ? '' : Math.round(durationMs)}</td>
      <td class="figure">{bodyLength === 0 ? '' : bytesText(bodyLength)}</td>
      <td class="buttons">
        <button type="button" onClick={() => show(asCurl(location.origin, request))}>
          curl
        </button>
        <button type="button" onClick={() => show(asClusterctl(request))}>
          clusterctl
        </button>
      </td>
    </tr>
  )
}
