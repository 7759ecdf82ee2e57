// All admission plugins in the order of kube-apiserver, and whether they are on by default.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'

interface KnownPlugin {
  readonly name: string
  readonly isDefault: boolean
}

const on = (name: string): KnownPlugin => ({ name, isDefault: true })
const off = (name: string): KnownPlugin => ({ name, isDefault: false })

const knownPlugins: readonly KnownPlugin[] = [
  off('AlwaysAdmit'),
  off('NamespaceAutoProvision'),
  on('NamespaceLifecycle'),
  off('NamespaceExists'),
  off('SecurityContextDeny'),
  off('LimitPodHardAntiAffinityTopology'),
  on('LimitRanger'),
  on('ServiceAccount'),
  off('NodeRestriction'),
  on('TaintNodesByCondition'),
  off('AlwaysPullImages'),
  off('ImagePolicyWebhook'),
  on('PodSecurity'),
  off('PodNodeSelector'),
  on('Priority'),
  on('DefaultTolerationSeconds'),
  off('PodTolerationRestriction'),
  off('EventRateLimit'),
  off('ExtendedResourceToleration'),
  off('PersistentVolumeLabel'),
  on('DefaultStorageClass'),
  on('StorageObjectInUseProtection'),
  off('OwnerReferencesPermissionEnforcement'),
  on('PersistentVolumeClaimResize'),
  on('RuntimeClass'),
  on('CertificateApproval'),
  on('CertificateSigning'),
  on('CertificateSubjectRestriction'),
  on('DefaultIngressClass'),
  off('DenyServiceExternalIPs'),
  on('MutatingAdmissionWebhook'),
  on('ValidatingAdmissionPolicy'),
  on('ValidatingAdmissionWebhook'),
  on('ResourceQuota'),
  off('AlwaysDeny'),
]

export const pluginNames: readonly string[] = knownPlugins.map(({ name }) => name).sort(compareText)

export interface PluginChoice {
  readonly enabled: readonly string[]
  readonly disabled: readonly string[]
}

export const enabledPlugins = ({ enabled, disabled }: PluginChoice): readonly string[] =>
  knownPlugins.flatMap(({ name, isDefault }) => ((isDefault || enabled.includes(name)) && !disabled.includes(name) ? [name] : []))
