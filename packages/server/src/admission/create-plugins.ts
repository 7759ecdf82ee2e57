// Creates the enabled admission plugins in the order of `plugin-table.ts`. A new plugin needs a line here.

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { FeatureGates } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { Plugin } from './admission-plugin.js'
import type { AdmissionConfig } from './config/admission-config.js'
import { limitRanger } from './limit-ranger/limit-ranger.js'
import { type CheckPermission, type FindOwners, type Lookup, lookupOf, ownerResources } from './lookup.js'
import { enabledPlugins, type PluginChoice } from './plugin-table.js'
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './plugins/certificate-signing-requests.js'
import { eventRateLimit, eventTokenBuckets, type TakeTokens } from './plugins/event-rate-limit.js'
import {
  alwaysAdmit,
  alwaysDeny,
  alwaysPullImages,
  denyServiceExternalIPs,
  limitPodHardAntiAffinityTopology,
  securityContextDeny,
} from './plugins/fixed-rules.js'
import { namespaceAutoProvision, namespaceExists, namespaceLifecycle } from './plugins/namespace-lifecycle.js'
import { nodeRestriction, taintNodesByCondition } from './plugins/node-restriction.js'
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references.js'
import { priority } from './plugins/priority.js'
import { runtimeClass } from './plugins/runtime-class.js'
import { serviceAccount } from './plugins/service-account.js'
import {
  defaultIngressClass,
  defaultStorageClass,
  persistentVolumeClaimResize,
  persistentVolumeLabel,
  storageObjectInUseProtection,
} from './plugins/storage.js'
import {
  defaultTolerationSeconds,
  extendedResourceToleration,
  podNodeSelector,
  podTolerationRestriction,
} from './plugins/tolerations-and-node-selectors.js'
import { podSecurity } from './pod-security/pod-security.js'
import { type QuotaLedger, resourceQuota } from './quota/resource-quota.js'
import { PolicyCounters } from './validating-admission-policy/policy-counters.js'
import { type EvaluateInWorker, validatingAdmissionPolicy } from './validating-admission-policy/validating-admission-policy.js'
import { type WebhookSources, webhookPlugins } from './webhooks/webhook-plugins.js'

interface AdmissionParts extends PluginChoice {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly randomSuffix: (length: number) => string
  readonly gates: FeatureGates
  readonly config: AdmissionConfig
  readonly ledger?: QuotaLedger | undefined
  readonly checkPermission: CheckPermission
  readonly policyCounters?: PolicyCounters
  readonly evaluateInWorker?: EvaluateInWorker
  /** Undefined: EventRateLimit counts in this thread only. */
  readonly takeEventTokens?: TakeTokens | undefined
  readonly createNamespace: (name: string) => Promise<void>
  readonly imagePolicy?: Plugin | undefined
  readonly webhooks?: WebhookSources | undefined
  readonly notReadyTolerationSeconds: number
  readonly unreachableTolerationSeconds: number
}

export function createPlugins(parts: AdmissionParts): readonly Plugin[] {
  const lookup = lookupOf(parts)
  const created: readonly Plugin[] = [
    ...namespacePlugins(parts),
    ...podPlugins(parts, lookup),
    ...permissionPlugins(parts),
    ...(parts.imagePolicy === undefined ? [] : [parts.imagePolicy]),
    alwaysAdmit,
    nodeRestriction(lookup),
    taintNodesByCondition,
    eventRateLimit(
      parts.config.eventRateLimits,
      parts.takeEventTokens ?? eventTokenBuckets(parts.config.eventRateLimits, () => performance.now()).take,
    ),
    persistentVolumeLabel,
    defaultStorageClass(lookup),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(lookup),
    defaultIngressClass(lookup),
    denyServiceExternalIPs,
    ...policyPlugins(parts),
    ...(parts.ledger === undefined ? [] : [resourceQuota(parts.ledger)]),
    ...(parts.webhooks === undefined ? [] : webhookPlugins(parts, parts.webhooks)),
    alwaysDeny,
  ]
  return enabledPlugins(parts).flatMap((enabledName) => created.filter(({ name }) => name === enabledName))
}

function namespacePlugins({ store, catalogs: { current }, createNamespace, config }: AdmissionParts): readonly Plugin[] {
  const { identity } = current
  const namespaces = current.find('', 'v1', 'namespaces')
  const pods = current.find('', 'v1', 'pods')
  if (namespaces === undefined || pods === undefined) return []
  return [
    namespaceAutoProvision({ store, namespaces, createNamespace }),
    namespaceLifecycle({ store, namespaces, identity }),
    namespaceExists(store, namespaces),
    podSecurity({ store, namespaces, pods, settings: config.podSecurity }),
  ]
}

/** Without the feature gate ValidatingAdmissionPolicy, stored policies are not enforced. */
function policyPlugins({
  store,
  catalogs,
  gates,
  policyCounters = new PolicyCounters(),
  evaluateInWorker,
}: AdmissionParts): readonly Plugin[] {
  if (!gates('ValidatingAdmissionPolicy')) return []
  const { current } = catalogs
  const group = current.identity.group({ stem: 'admissionregistration' })
  const policies = current.find(group, 'v1alpha1', 'validatingadmissionpolicies')
  const bindings = current.find(group, 'v1alpha1', 'validatingadmissionpolicybindings')
  const namespaces = current.find('', 'v1', 'namespaces')
  if (policies === undefined || bindings === undefined || namespaces === undefined) return []
  return [validatingAdmissionPolicy({ store, catalogs, namespaces, policies, bindings, counters: policyCounters, evaluateInWorker })]
}

function podPlugins(parts: AdmissionParts, lookup: Lookup): readonly Plugin[] {
  const { store, config, randomSuffix, catalogs } = parts
  const { current } = catalogs
  const limitRanges = current.find('', 'v1', 'limitranges')
  return [
    securityContextDeny,
    limitPodHardAntiAffinityTopology,
    ...(limitRanges === undefined ? [] : [limitRanger(store, limitRanges)]),
    serviceAccount({ lookup, randomSuffix }),
    alwaysPullImages,
    podNodeSelector(lookup, config.nodeSelectors),
    priority(lookup),
    defaultTolerationSeconds({
      identity: current.identity,
      notReadySeconds: parts.notReadyTolerationSeconds,
      unreachableSeconds: parts.unreachableTolerationSeconds,
    }),
    podTolerationRestriction(lookup, config.tolerations),
    extendedResourceToleration,
    runtimeClass(lookup),
  ]
}

function permissionPlugins({ checkPermission, catalogs }: AdmissionParts): readonly Plugin[] {
  const findOwners: FindOwners = (apiVersion, kind) => ownerResources(catalogs.current, apiVersion, kind)
  const group = catalogs.current.identity.group({ stem: 'certificates' })
  const requests = catalogs.current.find(group, 'v1', 'certificatesigningrequests')?.collection
  return [
    ownerReferencesPermissionEnforcement({ checkPermission, findOwners }),
    ...(requests === undefined
      ? []
      : [
          certificateApproval(checkPermission, requests),
          certificateSigning(checkPermission, requests),
          certificateSubjectRestriction(requests),
        ]),
  ]
}
