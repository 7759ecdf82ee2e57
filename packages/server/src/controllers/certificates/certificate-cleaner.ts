// Deletes certificate requests: denied, failed and issued ones after an hour or when the certificate expires, undecided ones after a day.

import { X509Certificate } from 'node:crypto'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { CertificateSigningRequest } from '@cluster-apiserver/api/resources/certificates/v1.schema.js'
import { partsOf } from '../../objects/object-keys.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import { ignoreErrors, internalDelete, notFoundOrConflict } from '../framework/internal-call.js'
import type { Outcome } from '../framework/work-queue.js'
import type { Controller } from '../leader-election/leader-election.js'
import { requestsOf } from './certificate-approval.js'

const hourMs = 3_600_000
const decidedTtlMs = hourMs
const pendingTtlMs = 24 * hourMs

export const certificateCleaner = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
    name: 'csrcleaner',
    sources: () => {
      const resource = requestsOf(parts)
      if (resource === undefined) return []
      return [
        { resource, namespace: '', keyOf: ({ key }, eventType) => (eventType === 'DELETED' ? undefined : partsOf(resource, key).name) },
      ]
    },
    work: (name) => clean(parts, name),
  })

async function clean(parts: ControllerParts, name: string): Promise<Outcome> {
  const { engine } = parts
  const resource = requestsOf(parts)
  const stored = resource && engine.store.read({ resource, namespace: '', name })
  const request = resource && stored && (stored.decode(resource) as CertificateSigningRequest)
  if (resource === undefined || request === undefined) return undefined
  const remainingMs = deletionTimeOf(request) - engine.clock.now()
  if (remainingMs === Number.POSITIVE_INFINITY) return undefined
  if (remainingMs > 0) return { afterMs: timerMs(remainingMs) }
  const { uid = '', resourceVersion = '' } = request.metadata ?? {}
  await ignoreErrors(notFoundOrConflict, internalDelete(engine, { resource, name, options: { preconditions: { uid, resourceVersion } } }))
  return undefined
}

function deletionTimeOf({ metadata, status: { conditions = [], certificate = '' } = {} }: CertificateSigningRequest): number {
  const createdMs = Date.parse(metadata?.creationTimestamp ?? '')
  const hourAfter = (type: string): number => {
    const found = conditions.find((condition) => condition.type === type)
    return found === undefined ? Number.POSITIVE_INFINITY : timeOr(found.lastUpdateTime, createdMs) + decidedTtlMs
  }
  const isIssued = certificate !== ''
  const deletionTimes = [hourAfter('Denied'), hourAfter('Failed')]
  if (isIssued) deletionTimes.push(Math.min(hourAfter('Approved'), expiryOfCertificate(certificate)))
  if (!isIssued && conditions.length === 0) deletionTimes.push(createdMs + pendingTtlMs)
  return Math.min(...deletionTimes)
}

const timeOr = (time: string | undefined, other: number): number => (time === undefined ? other : Date.parse(time))

/** Infinity if the certificate cannot be parsed. */
function expiryOfCertificate(base64: string): number {
  try {
    return Date.parse(new X509Certificate(Buffer.from(base64, 'base64')).validTo)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
