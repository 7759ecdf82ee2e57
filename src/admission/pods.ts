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

/** A pod that is being created or changed as a whole. */
export function changedPod(request: AdmissionRequest): Pod | undefined {
  const { operation, subresource, resource, object } = request
  const isWhole = subresource === '' && resource.collection === 'pods' && (operation === 'CREATE' || operation === 'UPDATE')
  return isWhole ? object : undefined
}

/** What is wrong with something that others wrote down is told to whoever meets it. */
export function refuseBy<T>(request: AdmissionRequest, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw refusePod(request, (thrown as Error).message)
  }
}

export const refusePod = (request: AdmissionRequest, why: string): ApiError =>
  forbidden(request.resource.subject, refusedName(request), why)

/** What has no name yet is called by the beginning of the one that it will get. */
export const refusedName = ({ name, object }: AdmissionRequest): string =>
  name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown'

/** The pod with some of its spec changed. */
export const withSpec = (pod: Pod, changes: PodSpec): Pod => ({ ...pod, spec: { ...pod.spec, ...changes } })

export type { Container, PodSpec }
