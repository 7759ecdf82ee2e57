// The events of an object, followed.

import type { DynamicObject } from '@cluster-apiserver/client/browser.js'
import { useState } from 'preact/hooks'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { ageText } from '../ui/format.js'
import { useTask } from '../ui/hooks.js'
import { PlainTable } from '../ui/plain-table.js'
import { shortened } from '../ui/visible-text.js'

interface EventObject extends DynamicObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
}

interface EventsProps {
  readonly object: DynamicObject
  readonly namespace: string | undefined
}

const maxEvents = 200
const maxCharacters = 200
const redrawMs = 200

export function Events({ object, namespace }: EventsProps) {
  const session = useSession()
  const uid = object.metadata?.uid
  const [latest, setLatest] = useState<readonly EventObject[]>([])
  const error = useTask(
    async (signal) => {
      const resource = session.resources.find((each) => each.resource === 'events' && each.group === '')
      if (resource === undefined || uid === undefined) return
      const events = new Map<string, EventObject>()
      let timer: ReturnType<typeof setTimeout> | undefined
      const draw = (): void => {
        timer = undefined
        const sorted = [...events].sort(([, a], [, b]) => timeOf(b) - timeOf(a))
        for (const [name] of sorted.slice(maxEvents)) events.delete(name)
        if (!signal.aborted) setLatest(sorted.slice(0, maxEvents).map(([, event]) => event))
      }
      const options = { fieldSelector: { 'involvedObject.uid': uid }, signal }
      for await (const event of session.client.collection<EventObject>(resource, namespace ?? '').watch(options)) {
        if (event.type === 'BOOKMARK') continue
        if (event.type === 'DELETED') events.delete(event.name)
        else events.set(event.name, event.object)
        if (timer === undefined) timer = setTimeout(draw, redrawMs)
      }
    },
    [uid],
  )
  return (
    <section>
      <h2>Events</h2>
      {error !== undefined && <ErrorPanel error={error} title="The events cannot be read" />}
      {latest.length === 0 ? (
        <p class="empty">No events.</p>
      ) : (
        <PlainTable titles={['Age', 'Type', 'Reason', 'Message', 'Count']}>
          {latest.map((event) => (
            <tr key={event.metadata?.uid} class={event.type === 'Warning' ? 'warning' : ''}>
              <td>{ageText(timeOf(event), Date.now())}</td>
              <td>{shortened(event.type ?? '', maxCharacters)}</td>
              <td>{shortened(event.reason ?? '', maxCharacters)}</td>
              <td>{shortened(event.message ?? '', 2 * maxCharacters)}</td>
              <td>{event.count ?? 1}</td>
            </tr>
          ))}
        </PlainTable>
      )}
    </section>
  )
}

const timeOf = ({ lastTimestamp, eventTime, metadata }: EventObject): number =>
  Date.parse(lastTimestamp ?? eventTime ?? String(metadata?.creationTimestamp ?? '')) || 0
