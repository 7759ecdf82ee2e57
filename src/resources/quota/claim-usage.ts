// What a claim uses: itself and its storage, altogether and of its storage class.

import type { Identity } from '../../api/identity.js'
import { parseQuantity, type Quantity, roundUpQuantity } from '../../schema/quantity.js'
import type { PersistentVolumeClaim } from '../core/v1.schema.js'
import { type Amounts, one } from './amounts.js'
import type { QuotaEvaluator, UsageContext } from './evaluator.js'

const counted = new Set(['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage'])

const ofClass = (identity: Identity): string => `.${identity.group({ stem: 'storageclass.storage' })}/`

export const claimEvaluator: QuotaEvaluator = {
  usage: (object, context) => claimUsage(object as PersistentVolumeClaim, context),
  counts: (name, identity) =>
    counted.has(name) ||
    name.endsWith(`${ofClass(identity)}requests.storage`) ||
    name.endsWith(`${ofClass(identity)}persistentvolumeclaims`),
  isInScope: () => false,
  constraintProblem: () => undefined,
  checksUpdates: true,
}

function claimUsage({ metadata, spec = {} }: PersistentVolumeClaim, { identity }: UsageContext): Amounts {
  const usage = new Map<string, Quantity>([
    ['count/persistentvolumeclaims', one],
    ['persistentvolumeclaims', one],
  ])
  const className = metadata?.annotations?.[identity.label('storage-class', 'volume.beta')] ?? spec.storageClassName ?? ''
  const prefix = `${className}${ofClass(identity)}`
  if (className !== '') usage.set(`${prefix}persistentvolumeclaims`, one)
  const text = spec.resources?.requests?.['storage']
  if (text !== undefined) {
    const storage = roundUpQuantity(parseQuantity(text), 0)
    usage.set('requests.storage', storage)
    if (className !== '') usage.set(`${prefix}requests.storage`, storage)
  }
  return usage
}
