// Events that loops leave with an object, for people who wonder what became of it.

import type { ApiObject } from '../../api/object.js'
import { timeOf } from '../../schema/scalars.js'
import { create } from '../../verbs/create.js'
import { ownCall } from '../own-call.js'
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

let told = 0

/** Events are for people: one that cannot be written is told to the log. */
export async function recordEvent(
  { engine, catalogs, logger }: Pick<LoopParts, 'engine' | 'catalogs' | 'logger'>,
  involved: Involved,
  { type, reason, message, component }: Told,
): Promise<void> {
  const resource = catalogs.current.find('', 'v1', 'events')
  if (resource === undefined) return
  const namespace = involved.namespace === '' ? 'default' : involved.namespace
  // Names as others make them: the object's, and when it happened in billionths of a second, which are counted here.
  told = (told + 1) % 1_000_000
  const moment = BigInt(engine.clock.now()) * 1_000_000n + BigInt(told)
  const name = `${involved.name}.${moment.toString(16)}`
  const time = timeOf(engine.clock.now())
  const { namespace: place, ...rest } = involved
  const object = {
    metadata: { name, namespace },
    involvedObject: place === '' ? rest : involved,
    reason,
    message,
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type,
  } as ApiObject
  try {
    await create(engine, ownCall(engine, { resource, namespace, name }), { object })
  } catch (err) {
    logger.info({ loop: component, reason, err }, 'loop cannot write an event')
  }
}
