// Records Event objects about an object, as controllers do for users.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { create } from '../../verbs/create.js'
import type { Engine } from '../../verbs/engine.js'
import { patch } from '../../verbs/patch.js'
import type { ControllerParts } from './controller.js'
import { EventCorrelator, type Series } from './event-correlator.js'
import { internalCall } from './internal-call.js'

interface InvolvedObject {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

interface EventDetails {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly component: string
}

type Parts = Pick<ControllerParts, 'engine' | 'catalogs' | 'logger'>

const correlatorOf = weakMemoize((_: ObjectStore) => new EventCorrelator())

export const forgetEvents = (engine: Engine): void => correlatorOf(engine.store).forget()

/** An event that cannot be written is logged. */
export async function recordEvent(parts: Parts, involved: InvolvedObject, details: EventDetails): Promise<void> {
  const { engine } = parts
  const { type, reason, message, component } = details
  const { apiVersion, kind, namespace, name, uid } = involved
  const subject = JSON.stringify([component, apiVersion, kind, namespace, name, uid])
  const correlator = correlatorOf(engine.store)
  const series = correlator.add({ subject, type, reason, message }, engine.clock.now())
  if (series === undefined) return
  series.writing ??= writeAll(parts, involved, { details, series })
  if (!(await series.writing)) correlator.refund(subject)
}

/** Repeats until the stored count is current: the same event may be recorded again during the write. */
async function writeAll(parts: Parts, involved: InvolvedObject, { details, series }: PendingEvent): Promise<boolean> {
  const { component, reason } = details
  try {
    for (let written = 0; written < series.count; ) {
      const { count } = series
      if (series.name === '' || !(await incrementCount(parts, involved, series))) await write(parts, involved, { details, series })
      written = count
    }
    return true
  } catch (error) {
    parts.logger.info({ controller: component, reason, error }, 'cannot record an event; it is recorded with the next one')
    return false
  } finally {
    series.writing = undefined
  }
}

const namespaceOf = ({ namespace }: InvolvedObject): string => (namespace === '' ? 'default' : namespace)

/** Returns false if the stored event has expired. */
async function incrementCount({ engine, catalogs }: Parts, involved: InvolvedObject, { name, count, message }: Series): Promise<boolean> {
  const resource = catalogs.current.find('', 'v1', 'events')
  if (resource === undefined) return true
  const changes = { count, message, lastTimestamp: timeOf(engine.clock.now()) }
  try {
    const call = internalCall(engine, { resource, namespace: namespaceOf(involved), name })
    await patch(engine, call, { type: 'merge', patch: changes, duplicates: [] })
    return true
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status.code === 404) return false
    throw thrown
  }
}

let nameCounter = 0

interface PendingEvent {
  readonly details: EventDetails
  readonly series: Series
}

async function write({ engine, catalogs }: Parts, involved: InvolvedObject, { details, series }: PendingEvent): Promise<void> {
  const resource = catalogs.current.find('', 'v1', 'events')
  if (resource === undefined) return
  const namespace = namespaceOf(involved)
  // As in client-go: object name and time in nanoseconds, whose last six digits are a counter here.
  nameCounter = (nameCounter + 1) % 1_000_000
  const moment = BigInt(Math.floor(engine.clock.now())) * 1_000_000n + BigInt(nameCounter)
  const name = `${involved.name}.${moment.toString(16)}`
  const { namespace: ownNamespace, ...rest } = involved
  const { type, reason, component } = details
  const object = {
    metadata: { name, namespace },
    involvedObject: ownNamespace === '' ? rest : involved,
    reason,
    message: series.message,
    source: { component },
    firstTimestamp: timeOf(series.firstMs),
    lastTimestamp: timeOf(engine.clock.now()),
    count: series.count,
    type,
  } as ApiObject
  await create(engine, internalCall(engine, { resource, namespace, name }), { object })
  series.name = name
}
