// Writes of EndpointSlices, and their names and keys: for the slices of Services and of mirrored Endpoints.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { Source } from '../../framework/controller.js'
import { ignoreErrors, isNamespaceTerminating, notFoundCodes } from '../../framework/internal-call.js'
import { isTerminating } from '../kit/workload-parts.js'
import type { Writer } from '../kit/writer.js'
import type { SliceChanges } from './slice-plan.js'

export interface SliceResources {
  readonly slices: Resource
}

/** Labels and annotations of the slices that a controller manages. */
export const sliceNames = (identity: Identity, controller: string) => ({
  service: identity.label('service-name'),
  managedBy: identity.label('managed-by', 'endpointslice'),
  manager: `${controller}.${identity.groupSuffix}`,
  headless: identity.label('headless', 'service'),
  triggerTime: identity.label('last-change-trigger-time', 'endpoints'),
})

export type SliceNames = ReturnType<typeof sliceNames>

/** A managed slice that changes queues its Service, before and after the change. */
export const managedSlices = (slices: Resource, names: SliceNames): Source => ({
  resource: slices,
  namespace: '',
  onlyChanges: true,
  keyOf: (stored, _, previous) => {
    const { namespace } = partsOf(slices, stored.key)
    const managed = [stored.labels(), previous?.labels()].filter((labels) => labels?.[names.managedBy] === names.manager)
    return [...new Set(managed.flatMap((labels) => labels?.[names.service] ?? []))].map((name) => `${namespace}/${name}`)
  },
})

interface SliceWrite {
  readonly changes: SliceChanges
  /** A terminating owner gets no new slices. */
  readonly owner: ApiObject
  readonly ownerText: string
  readonly triggerTime: string | undefined
  readonly names: SliceNames
}

export async function writeSlices(writer: Writer, { slices }: SliceResources, write: SliceWrite): Promise<void> {
  const { changes, owner, ownerText, names, triggerTime } = write
  const withTime = (slice: EndpointSlice): EndpointSlice => {
    const { [names.triggerTime]: _, ...annotations } = slice.metadata?.annotations ?? {}
    const time = triggerTime === undefined ? {} : { [names.triggerTime]: triggerTime }
    return { ...slice, metadata: { ...slice.metadata, annotations: { ...annotations, ...time } } }
  }
  const attempt = async (what: string, promise: Promise<unknown>): Promise<void> => {
    try {
      await promise
    } catch (thrown) {
      throw new Error(`failed to ${what} for ${ownerText}: ${errorMessage(thrown)}`, { cause: thrown })
    }
  }
  for (const slice of isTerminating(owner) ? [] : changes.create) {
    try {
      await attempt('create EndpointSlice', writer.create(slices, withTime(slice)))
    } catch (thrown) {
      // The owner is deleted with its namespace.
      if (thrown instanceof Error && isNamespaceTerminating(thrown.cause)) return
      throw thrown
    }
  }
  for (const slice of changes.update) await attempt(`update ${slice.metadata?.name} EndpointSlice`, writer.update(slices, withTime(slice)))
  for (const slice of changes.remove)
    await attempt(`delete ${slice.metadata?.name} EndpointSlice`, ignoreErrors(notFoundCodes, writer.delete(slices, slice)))
}
