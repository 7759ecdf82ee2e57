// What every workload controller gets, and reads of stored objects.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject, OwnerReference } from '@cluster-apiserver/api/api/object.js'
import { everything } from '../../../objects/list/selection.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import type { ControllerParts } from '../../framework/controller.js'
import type { CustomMetricsSource, MetricExtensions, PodMetricsSource } from '../horizontalpodautoscaling/metrics-source.js'
import type { PodRange } from '../node-ipam/pod-ranges.js'
import type { ControlledObjects } from './controlled-objects.js'

export interface WorkloadParts extends ControllerParts {
  readonly controlled: ControlledObjects
  readonly flags?: WorkloadFlags
  /** Usage of pods for the autoscaler. Absent: none is known. */
  readonly podMetrics?: PodMetricsSource
  /** Custom and external metrics for the autoscaler. Absent: none are known. */
  readonly customMetrics?: CustomMetricsSource
  /** Extension API servers, which may serve metrics. */
  readonly extensions?: MetricExtensions
}

/** Flags of workload controllers. */
export interface WorkloadFlags {
  /** Number of finished pods that podgc keeps; 0: all. */
  readonly terminatedPodThreshold: number
  /** CIDR of the addresses of load balancers. */
  readonly serviceLbRange: string
  /** Ranges from which nodes get their pod ranges, at most one per IP family; none: nodes get none. */
  readonly podRanges: readonly PodRange[]
  /** Ranges of services, which no node gets. */
  readonly serviceRanges: readonly string[]
}

/** Delays of failed keys, as in kube-controller-manager. */
export const workloadBackOff = { firstMs: 5, maxMs: 1_000_000 }

/** The stored object in the storage version, without kind and apiVersion. Cached: most controllers write what they read. */
export const readObject = <T extends ApiObject>({ engine }: Pick<ControllerParts, 'engine'>, address: ObjectAddress): T | undefined =>
  engine.store.readCached(address)?.decode(address.resource) as T | undefined

/** All objects of a namespace; empty: of all namespaces. */
export function* readAll<T extends ApiObject>(
  { engine }: Pick<ControllerParts, 'engine'>,
  resource: Resource,
  namespace: string,
): Generator<T> {
  for (const stored of engine.store.readAll({ resource, namespace, selection: everything, limit: 0 }).objects())
    yield stored.decode(resource) as T
}

/** Key of a work queue: `<namespace>/<name>`. */
export function addressOfKey(resource: Resource, key: string): ObjectAddress {
  const slash = key.indexOf('/')
  return { resource, namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

export const controllerRefOf = ({ metadata }: ApiObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(({ controller }) => controller === true)

/** Owner reference of an object that its controller created. `resource`: that of the owner. */
export const newControllerRef = ({ metadata }: ApiObject, { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
})

export const isTerminating = ({ metadata }: ApiObject): boolean => metadata?.deletionTimestamp !== undefined
