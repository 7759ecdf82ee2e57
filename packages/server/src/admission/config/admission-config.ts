// What the plugins are configured with, by plugin: read from the file of --admission-control-config-file, whole and checked before the server starts.

import type { Identity } from '../../api/identity.js'
import type { PluginChoice } from '../plugin-table.js'
import { chosenPlugins } from '../plugin-table.js'
import { type EventRateLimits, parseEventRateLimits } from './event-rate-limits.js'
import { type ImagePolicySettings, parseImagePolicy } from './image-policy.js'
import { type NodeSelectors, noNodeSelectors, parseNodeSelectors } from './node-selectors.js'
import { type PodSecuritySettings, parsePodSecurity, usualPodSecurity } from './pod-security-settings.js'
import { type LimitedResource, parseLimitedResources } from './quota-settings.js'
import { noTolerationLists, parseTolerationLists, type TolerationLists } from './toleration-lists.js'
import { parseWebhookSettings, type WebhookSettings } from './webhook-settings.js'

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

/** The configuration of one plugin as it was written: in its own file, or in the one that names the plugins. */
export interface WrittenConfig {
  readonly value: unknown
  readonly file: string
  /** The path of the configuration in the file; empty where it is the file. */
  readonly where: string
}

export interface ConfigContext {
  readonly identity: Identity
  /** The path before the names of fields. */
  readonly where: string
  /** The file, from which further files are found. */
  readonly file: string
}

export type WrittenConfigs = ReadonlyMap<string, WrittenConfig>

/** Throws one sentence that names the file and the field. */
export function readAdmissionConfig(written: WrittenConfigs, identity: Identity): AdmissionConfig {
  const read = <T>(plugin: string, parse: (value: unknown, context: ConfigContext) => T, otherwise: T): T => {
    const config = written.get(plugin)
    if (config === undefined) return otherwise
    try {
      return parse(config.value, { identity, where: config.where, file: config.file })
    } catch (thrown) {
      throw new Error(`${config.file}: ${(thrown as Error).message}`)
    }
  }
  return {
    podSecurity: read('PodSecurity', parsePodSecurity, usualPodSecurity),
    eventRateLimits: read('EventRateLimit', parseEventRateLimits, []),
    nodeSelectors: read('PodNodeSelector', parseNodeSelectors, noNodeSelectors),
    tolerations: read('PodTolerationRestriction', parseTolerationLists, noTolerationLists),
    limitedResources: read('ResourceQuota', parseLimitedResources, []),
    imagePolicy: read<ImagePolicySettings | undefined>('ImagePolicyWebhook', parseImagePolicy, undefined),
    mutatingWebhooks: read('MutatingAdmissionWebhook', parseWebhookSettings, {}),
    validatingWebhooks: read('ValidatingAdmissionWebhook', parseWebhookSettings, {}),
  }
}

/** Some plugins can do nothing without being told what. */
const needed = ['EventRateLimit', 'ImagePolicyWebhook']

/** Of the plugins that shall run, the first one that lacks its configuration. */
export const unconfigured = (choice: PluginChoice, written: WrittenConfigs): string | undefined =>
  chosenPlugins(choice).find((name) => needed.includes(name) && !written.has(name))

/** The plugins that read a configuration. */
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
