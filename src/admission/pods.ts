// What plugins that look at pods share: which attempts concern them, how they refuse, and the parts of a pod they read.

import { type ApiError, forbidden } from '../api/api-error.js'
import type { ApiObject } from '../api/object.js'
import type { Container, PodSpec } from '../resources/core/v1.schema.js'
import type { Attempt } from './admission.js'

export interface Pod extends ApiObject {
  readonly spec?: PodSpec
}

/** A pod that is being created. */
export function newPod(attempt: Attempt): Pod | undefined {
  const isNew = attempt.operation === 'CREATE' && attempt.subresource === '' && attempt.resource.collection === 'pods'
  return isNew ? attempt.object : undefined
}

export const refusePod = (attempt: Attempt, why: string): ApiError => forbidden(attempt.resource.subject, attempt.name, why)

/** The pod with some of its spec changed. */
export const withSpec = (pod: Pod, changes: PodSpec): Pod => ({ ...pod, spec: { ...pod.spec, ...changes } })

export type { Container, PodSpec }
