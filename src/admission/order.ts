// The admission plugins that there are. To add one: write its file, and give it a line here; its place in the order is that of its name in
// `plugin-table.ts`.

import type { CatalogSource } from '../api/catalog-source.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { Plugin } from './admission.js'
import type { AdmissionConfig } from './config/admission-config.js'
import { lookupOf } from './lookup.js'
import { chosenPlugins, type PluginChoice } from './plugin-table.js'
import { defaultIngressClass, defaultStorageClass } from './plugins/default-classes.js'
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.js'
import { limitRanger } from './plugins/limit-ranger.js'
import { namespaceLifecycle } from './plugins/namespace-lifecycle.js'
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.js'
import { podSecurity } from './plugins/pod-security.js'
import { priority } from './plugins/priority.js'
import { resourceQuota } from './plugins/resource-quota.js'
import { runtimeClass } from './plugins/runtime-class.js'
import { serviceAccount } from './plugins/service-account.js'
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.js'
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.js'
import type { QuotaLedger } from './quota/ledger.js'

export interface AdmissionParts extends PluginChoice {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly randomSuffix: (length: number) => string
  readonly config: AdmissionConfig
  /** Undefined where there are no quotas. */
  readonly ledger?: QuotaLedger | undefined
  readonly notReadyTolerationSeconds: number
  readonly unreachableTolerationSeconds: number
}

export function pluginsInOrder(parts: AdmissionParts): readonly Plugin[] {
  const { store, randomSuffix } = parts
  const { current } = parts.catalogs
  const { identity } = current
  const lookup = lookupOf(parts)
  const namespaces = current.find('', 'v1', 'namespaces')
  const pods = current.find('', 'v1', 'pods')
  const limitRanges = current.find('', 'v1', 'limitranges')
  const made: readonly Plugin[] = [
    ...(namespaces === undefined ? [] : [namespaceLifecycle({ store, namespaces, identity })]),
    ...(limitRanges === undefined ? [] : [limitRanger(store, limitRanges)]),
    serviceAccount({ lookup, randomSuffix }),
    taintNodesByCondition,
    ...(namespaces === undefined || pods === undefined
      ? []
      : [podSecurity({ store, namespaces, pods, settings: parts.config.podSecurity })]),
    priority(lookup),
    defaultTolerationSeconds({
      identity,
      notReadySeconds: parts.notReadyTolerationSeconds,
      unreachableSeconds: parts.unreachableTolerationSeconds,
    }),
    defaultStorageClass(lookup),
    storageObjectInUseProtection,
    runtimeClass(lookup),
    defaultIngressClass(lookup),
    persistentVolumeClaimResize(lookup),
    ...(parts.ledger === undefined ? [] : [resourceQuota(parts.ledger)]),
  ]
  return chosenPlugins(parts).flatMap((chosen) => made.filter(({ name }) => name === chosen))
}
