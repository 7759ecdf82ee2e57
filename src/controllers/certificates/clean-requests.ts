// Requests for certificates go when they have served their purpose: an hour after they were decided, a day after nobody did, or when the
// certificate has ended.

import { X509Certificate } from 'node:crypto'
import { ApiError } from '../../api/api-error.js'
import { timerMs } from '../../base/clock.js'
import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import type { CertificateSigningRequest } from '../../resources/certificates/v1.schema.js'
import type { Outcome } from '../kit/keyed-queue.js'
import { KeyedLoop, type LoopParts } from '../kit/loop.js'
import type { Loop } from '../leader-election.js'
import { removeOwn } from '../own-write.js'
import { requestsOf } from './approve-requests.js'

const hourMs = 3_600_000
/** After they were approved and answered, denied, or failed. */
const decidedMs = hourMs
/** After they were made, when nobody has said anything. */
const pendingMs = 24 * hourMs

export const certificateCleaner = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'csrcleaner',
    sources: () => {
      const resource = requestsOf(parts)
      if (resource === undefined) return []
      return [{ resource, namespace: '', keyOf: ({ key }, seen) => (seen === 'DELETED' ? undefined : partsOf(resource, key).name) }]
    },
    work: (name) => clean(parts, name),
  })

async function clean(parts: LoopParts, name: string): Promise<Outcome> {
  const { engine } = parts
  const resource = requestsOf(parts)
  const stored = resource && engine.store.read({ resource, namespace: '', name })
  const request = resource && stored && (leanObject(stored, resource) as CertificateSigningRequest)
  if (resource === undefined || request === undefined) return undefined
  const leftMs = endOf(request) - engine.clock.now()
  if (leftMs === Number.POSITIVE_INFINITY) return undefined
  if (leftMs > 0) return { afterMs: timerMs(leftMs) }
  const { uid = '', resourceVersion = '' } = request.metadata ?? {}
  try {
    await removeOwn(engine, { resource, name, options: { preconditions: { uid, resourceVersion } } })
  } catch (thrown) {
    // It was changed or deleted, of which the loop hears.
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
  return undefined
}

/** When it is of no use any more, in milliseconds since 1970. */
export function endOf({ metadata, status: { conditions = [], certificate = '' } = {} }: CertificateSigningRequest): number {
  const madeMs = Date.parse(metadata?.creationTimestamp ?? '')
  const after = (type: string): number => {
    const found = conditions.find((condition) => condition.type === type)
    return found === undefined ? Number.POSITIVE_INFINITY : momentOf(found.lastUpdateTime, madeMs) + decidedMs
  }
  const isIssued = certificate !== ''
  const ends = [after('Denied'), after('Failed')]
  if (isIssued) ends.push(Math.min(after('Approved'), endOfCertificate(certificate)))
  if (!isIssued && conditions.length === 0) ends.push(madeMs + pendingMs)
  return Math.min(...ends)
}

const momentOf = (time: string | undefined, other: number): number => (time === undefined ? other : Date.parse(time))

/** What cannot be read ends never: it is not for us to judge. */
function endOfCertificate(base64: string): number {
  try {
    return Date.parse(new X509Certificate(Buffer.from(base64, 'base64')).validTo)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
