// The admission plugins that there are. To add one: write its file, and give it a line here; its place in the order is that of its name in
// `plugin-table.ts`.

import type { CatalogSource } from '../api/catalog-source.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { AskAccess } from './access.js'
import type { Plugin } from './admission.js'
import type { AdmissionConfig } from './config/admission-config.js'
import { type Lookup, lookupOf } from './lookup.js'
import { type FindOwners, ownersIn } from './owner-kinds.js'
import { chosenPlugins, type PluginChoice } from './plugin-table.js'
import { alwaysAdmit, alwaysDeny } from './plugins/always.js'
import { alwaysPullImages } from './plugins/always-pull-images.js'
import { certificateApproval, certificateSigning } from './plugins/certificate-access.js'
import { certificateSubjectRestriction } from './plugins/certificate-subject-restriction.js'
import { defaultIngressClass, defaultStorageClass } from './plugins/default-classes.js'
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.js'
import { denyServiceExternalIPs } from './plugins/deny-service-external-ips.js'
import { eventBuckets, eventRateLimit, type TakeEvents } from './plugins/event-rate-limit.js'
import { extendedResourceToleration } from './plugins/extended-resource-toleration.js'
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.js'
import { limitRanger } from './plugins/limit-ranger.js'
import { namespaceAutoProvision } from './plugins/namespace-auto-provision.js'
import { namespaceExists } from './plugins/namespace-exists.js'
import { namespaceLifecycle } from './plugins/namespace-lifecycle.js'
import { nodeRestriction } from './plugins/node-restriction.js'
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references.js'
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.js'
import { persistentVolumeLabel } from './plugins/persistent-volume-label.js'
import { podNodeSelector } from './plugins/pod-node-selector.js'
import { podSecurity } from './plugins/pod-security.js'
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.js'
import { priority } from './plugins/priority.js'
import { resourceQuota } from './plugins/resource-quota.js'
import { runtimeClass } from './plugins/runtime-class.js'
import { securityContextDeny } from './plugins/security-context-deny.js'
import { serviceAccount } from './plugins/service-account.js'
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.js'
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.js'
import { validatingAdmissionPolicy } from './plugins/validating-admission-policy.js'
import type { EvaluateInWorker } from './policy/evaluate-policy.js'
import { PolicyTallies } from './policy/policy-tallies.js'
import type { QuotaLedger } from './quota/ledger.js'
import { type WebhookSources, webhookPlugins } from './webhooks/webhook-plugins.js'

export interface AdmissionParts extends PluginChoice {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly randomSuffix: (length: number) => string
  readonly config: AdmissionConfig
  /** Undefined where there are no quotas. */
  readonly ledger?: QuotaLedger | undefined
  readonly ask: AskAccess
  /** What policies did; left out where nobody counts. */
  readonly policyTallies?: PolicyTallies
  readonly evaluateInWorker?: EvaluateInWorker
  /** Left out: events are counted for this engine alone. */
  readonly takeEvents?: TakeEvents | undefined
  readonly createNamespace: (name: string) => Promise<void>
  /** Undefined if no image policy webhook is configured. */
  readonly imagePolicy?: Plugin | undefined
  /** Undefined where no hook is called. */
  readonly webhooks?: WebhookSources | undefined
  readonly notReadyTolerationSeconds: number
  readonly unreachableTolerationSeconds: number
}

export function pluginsInOrder(parts: AdmissionParts): readonly Plugin[] {
  const lookup = lookupOf(parts)
  const made: readonly Plugin[] = [
    ...onNamespaces(parts),
    ...onPods(parts, lookup),
    ...onRights(parts),
    ...(parts.imagePolicy === undefined ? [] : [parts.imagePolicy]),
    alwaysAdmit,
    nodeRestriction(lookup),
    taintNodesByCondition,
    eventRateLimit(
      parts.config.eventRateLimits,
      parts.takeEvents ?? eventBuckets(parts.config.eventRateLimits, () => performance.now()).take,
    ),
    persistentVolumeLabel,
    defaultStorageClass(lookup),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(lookup),
    defaultIngressClass(lookup),
    denyServiceExternalIPs,
    ...onPolicies(parts),
    ...(parts.ledger === undefined ? [] : [resourceQuota(parts.ledger)]),
    ...(parts.webhooks === undefined ? [] : webhookPlugins(parts, parts.webhooks)),
    alwaysDeny,
  ]
  return chosenPlugins(parts).flatMap((chosen) => made.filter(({ name }) => name === chosen))
}

function onNamespaces({ store, catalogs: { current }, createNamespace, config }: AdmissionParts): readonly Plugin[] {
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

/** Nothing where policies are not served. */
function onPolicies({ store, catalogs, policyTallies = new PolicyTallies(), evaluateInWorker }: AdmissionParts): readonly Plugin[] {
  const { current } = catalogs
  const group = current.identity.group({ stem: 'admissionregistration' })
  const policies = current.find(group, 'v1alpha1', 'validatingadmissionpolicies')
  const bindings = current.find(group, 'v1alpha1', 'validatingadmissionpolicybindings')
  const namespaces = current.find('', 'v1', 'namespaces')
  if (policies === undefined || bindings === undefined || namespaces === undefined) return []
  return [validatingAdmissionPolicy({ store, catalogs, namespaces, policies, bindings, tallies: policyTallies, evaluateInWorker })]
}

function onPods(parts: AdmissionParts, lookup: Lookup): readonly Plugin[] {
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

/** Those that ask whether somebody may do something else, too. */
function onRights({ ask, catalogs }: AdmissionParts): readonly Plugin[] {
  const findOwners: FindOwners = (apiVersion, kind) => ownersIn(catalogs.current, apiVersion, kind)
  const group = catalogs.current.identity.group({ stem: 'certificates' })
  const requests = catalogs.current.find(group, 'v1', 'certificatesigningrequests')?.collection
  return [
    ownerReferencesPermissionEnforcement({ ask, findOwners }),
    ...(requests === undefined
      ? []
      : [certificateApproval(ask, requests), certificateSigning(ask, requests), certificateSubjectRestriction(requests)]),
  ]
}
