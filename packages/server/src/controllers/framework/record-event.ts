// Events that loops leave with an object, for people who wonder what became of it.

import { ApiError } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import { onceFor } from '../../base/once-for.js'
import { timeOf } from '../../schema/scalars.js'
import { create } from '../../verbs/create.js'
import type { Engine } from '../../verbs/engine.js'
import { patch } from '../../verbs/patch.js'
import { ownCall } from '../own-call.js'
import { EventCorrelator, type Series } from './correlate-events.js'
import type { LoopParts } from './loop.js'

export interface Involved {
  readonly apiVersion: string
  readonly kind: string
  /** Empty: it is in none. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface Told {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** Which loop tells it. */
  readonly component: string
}

type Parts = Pick<LoopParts, 'engine' | 'catalogs' | 'logger'>

const correlatorOf = onceFor((_: Engine) => new EventCorrelator())

/** Nothing that was told before counts any more: the events are gone, and so is what they were about. */
export const forgetEvents = (engine: Engine): void => correlatorOf(engine).forget()

/** Events are for people: one that cannot be written is told to the log. */
export async function recordEvent(parts: Parts, involved: Involved, told: Told): Promise<void> {
  const { engine } = parts
  const { type, reason, message, component } = told
  const { apiVersion, kind, namespace, name, uid } = involved
  const subject = JSON.stringify([component, apiVersion, kind, namespace, name, uid])
  const correlator = correlatorOf(engine)
  const series = correlator.add({ subject, type, reason, message }, engine.clock.now())
  if (series === undefined) return
  series.writing ??= writeAll(parts, involved, { told, series })
  if (!(await series.writing)) correlator.giveBack(subject)
}

/** Until what is written is what was told: the same may be told again meanwhile, and is written by whoever is at it. */
async function writeAll(parts: Parts, involved: Involved, { told, series }: ToWrite): Promise<boolean> {
  const { component, reason } = told
  try {
    for (let written = 0; written < series.count; ) {
      const { count } = series
      if (series.name === '' || !(await countUp(parts, involved, series))) await write(parts, involved, { told, series })
      written = count
    }
    return true
  } catch (err) {
    parts.logger.info({ loop: component, reason, err }, 'loop cannot write an event')
    return false
  } finally {
    series.writing = undefined
  }
}

const placeOf = ({ namespace }: Involved): string => (namespace === '' ? 'default' : namespace)

/** False where the event has ended meanwhile. */
async function countUp({ engine, catalogs }: Parts, involved: Involved, { name, count, message }: Series): Promise<boolean> {
  const resource = catalogs.current.find('', 'v1', 'events')
  if (resource === undefined) return true
  const changes = { count, message, lastTimestamp: timeOf(engine.clock.now()) }
  try {
    const call = ownCall(engine, { resource, namespace: placeOf(involved), name })
    await patch(engine, call, { type: 'merge', patch: changes, duplicates: [] })
    return true
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status.code === 404) return false
    throw thrown
  }
}

let named = 0

interface ToWrite {
  readonly told: Told
  readonly series: Series
}

async function write({ engine, catalogs }: Parts, involved: Involved, { told, series }: ToWrite): Promise<void> {
  const resource = catalogs.current.find('', 'v1', 'events')
  if (resource === undefined) return
  const namespace = placeOf(involved)
  // Names as others make them: the object's, and when it happened in billionths of a second, which are counted here.
  named = (named + 1) % 1_000_000
  const moment = BigInt(Math.floor(engine.clock.now())) * 1_000_000n + BigInt(named)
  const name = `${involved.name}.${moment.toString(16)}`
  const { namespace: place, ...rest } = involved
  const { type, reason, component } = told
  const object = {
    metadata: { name, namespace },
    involvedObject: place === '' ? rest : involved,
    reason,
    message: series.message,
    source: { component },
    firstTimestamp: timeOf(series.firstMs),
    lastTimestamp: timeOf(engine.clock.now()),
    count: series.count,
    type,
  } as ApiObject
  await create(engine, ownCall(engine, { resource, namespace, name }), { object })
  series.name = name
}
