// What plugins that look at pods share: which attempts concern them, how they refuse, and the parts of a pod they read.

import { type ApiError, forbidden } from '../api/api-error.js'
import type { ApiObject } from '../api/object.js'
import type { Container, PodSpec } from '../resources/core/v1.schema.js'
import type { AdmissionRequest } from './admission.js'

export interface Pod extends ApiObject {
  readonly spec?: PodSpec
}

/** A pod that is being created. */
export function newPod(request: AdmissionRequest): Pod | undefined {
  const isNew = request.operation === 'CREATE' && request.subresource === '' && request.resource.collection === 'pods'
  return isNew ? request.object : undefined
}

export const refusePod = (request: AdmissionRequest, why: string): ApiError =>
  forbidden(request.resource.subject, refusedName(request), why)

/** What has no name yet is called by the beginning of the one that it will get. */
export const refusedName = ({ name, object }: AdmissionRequest): string =>
  name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown'

/** The pod with some of its spec changed. */
export const withSpec = (pod: Pod, changes: PodSpec): Pod => ({ ...pod, spec: { ...pod.spec, ...changes } })

export type { Container, PodSpec }
