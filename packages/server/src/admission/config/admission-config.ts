// Plugin configurations of --admission-control-config-file, validated before the server starts.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { PluginChoice } from '../plugin-table.js'
import { enabledPlugins } from '../plugin-table.js'
import type { ConfigContext } from './config-fields.js'
import {
  type EventRateLimits,
  type ImagePolicySettings,
  type LimitedResource,
  type NodeSelectors,
  noNodeSelectors,
  noTolerationLists,
  parseEventRateLimits,
  parseImagePolicy,
  parseLimitedResources,
  parseNodeSelectors,
  parseTolerationLists,
  parseWebhookSettings,
  type TolerationLists,
  type WebhookSettings,
} from './plugin-configs.js'
import { defaultPodSecurity, type PodSecuritySettings, parsePodSecurity } from './pod-security-config.js'

export interface AdmissionConfig {
  readonly podSecurity: PodSecuritySettings
  readonly eventRateLimits: EventRateLimits
  readonly nodeSelectors: NodeSelectors
  readonly tolerations: TolerationLists
  readonly limitedResources: readonly LimitedResource[]
  readonly imagePolicy: ImagePolicySettings | undefined
  readonly mutatingWebhooks: WebhookSettings
  readonly validatingWebhooks: WebhookSettings
}

export interface RawPluginConfig {
  readonly value: unknown
  readonly file: string
  /** Field path of the configuration in the file; empty if the configuration is a file of its own. */
  readonly where: string
}

export type RawPluginConfigs = ReadonlyMap<string, RawPluginConfig>

/** Throws an error that names file and field. */
export function readAdmissionConfig(rawConfigs: RawPluginConfigs, identity: Identity): AdmissionConfig {
  const read = <T>(plugin: string, parse: (value: unknown, context: ConfigContext) => T, fallback: T): T => {
    const config = rawConfigs.get(plugin)
    if (config === undefined) return fallback
    try {
      return parse(config.value, { identity, where: config.where, file: config.file })
    } catch (thrown) {
      throw new Error(`${config.file}: ${(thrown as Error).message}`)
    }
  }
  return {
    podSecurity: read('PodSecurity', parsePodSecurity, defaultPodSecurity),
    eventRateLimits: read('EventRateLimit', parseEventRateLimits, []),
    nodeSelectors: read('PodNodeSelector', parseNodeSelectors, noNodeSelectors),
    tolerations: read('PodTolerationRestriction', parseTolerationLists, noTolerationLists),
    limitedResources: read('ResourceQuota', parseLimitedResources, []),
    imagePolicy: read<ImagePolicySettings | undefined>('ImagePolicyWebhook', parseImagePolicy, undefined),
    mutatingWebhooks: read('MutatingAdmissionWebhook', parseWebhookSettings, {}),
    validatingWebhooks: read('ValidatingAdmissionWebhook', parseWebhookSettings, {}),
  }
}

const pluginsThatNeedConfig = ['EventRateLimit', 'ImagePolicyWebhook']

export const pluginWithoutConfig = (choice: PluginChoice, rawConfigs: RawPluginConfigs): string | undefined =>
  enabledPlugins(choice).find((name) => pluginsThatNeedConfig.includes(name) && !rawConfigs.has(name))

export const configuredPlugins: readonly string[] = [
  'PodSecurity',
  'EventRateLimit',
  'PodNodeSelector',
  'PodTolerationRestriction',
  'ResourceQuota',
  'ImagePolicyWebhook',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
]
