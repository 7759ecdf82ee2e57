// Settings of admission: enabled plugins, and the AdmissionConfiguration with the files that it names.

import { dirname, resolve } from 'node:path'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import {
  type AdmissionConfig,
  configuredPlugins,
  pluginWithoutConfig,
  type RawPluginConfig,
  type RawPluginConfigs,
  readAdmissionConfig,
} from '../admission/config/admission-config.js'
import { checkKind, listOf, mappingOf, onlyFields, requiredText, textOf } from '../admission/config/config-fields.js'
import { pluginNames } from '../admission/plugin-table.js'
import type { EndpointSettings } from '../net/outbound/json-endpoint.js'
import { type FindCredentials, readConnection, readCredentials } from './files/webhook-kubeconfig.js'
import { flagError } from './flags/flag.js'
import { type ReadText, readFromDisk, type SettingsInput } from './settings-input.js'

export function readAdmission(
  { values, files, readText = readFromDisk }: Pick<SettingsInput, 'values' | 'files'> & Partial<Pick<SettingsInput, 'readText'>>,
  identity: Identity,
) {
  const enabled = values['enable-admission-plugins']
  const disabled = values['disable-admission-plugins']
  const duplicate = enabled.find((plugin) => disabled.includes(plugin))
  if (duplicate !== undefined) throw flagError('disable-admission-plugins', `${duplicate} is also in --enable-admission-plugins`)
  const path = values['admission-control-config-file']
  const { config, rawConfigs } = readConfig(path, path === undefined ? '' : (files.get(path) ?? ''), { identity, readText })
  const unconfiguredPlugin = pluginWithoutConfig({ enabled, disabled }, rawConfigs)
  if (unconfiguredPlugin !== undefined)
    throw flagError('enable-admission-plugins', `${unconfiguredPlugin} needs a configuration in --admission-control-config-file`)
  return {
    enabled,
    disabled,
    config,
    ...connectionsOf(config, readText),
    allowsPlainWebhooks: values['insecure-loopback-webhooks'],
    recordedReviews: values['recorded-admission-reviews'],
    notReadyTolerationSeconds: values['default-not-ready-toleration-seconds'],
    unreachableTolerationSeconds: values['default-unreachable-toleration-seconds'],
  }
}

function connectionsOf({ mutatingWebhooks, validatingWebhooks, imagePolicy }: AdmissionConfig, readText: ReadText) {
  const read = <T>(path: string | undefined, parse: (path: string, text: string, readText: ReadText) => T, fallback: T): T => {
    if (path === undefined) return fallback
    try {
      return parse(path, readText(path), readText)
    } catch (thrown) {
      throw flagError('admission-control-config-file', `kubeConfigFile ${path}: ${(thrown as Error).message}`)
    }
  }
  const noCredentials: FindCredentials = () => undefined
  return {
    webhookCredentials: {
      mutating: read(mutatingWebhooks.kubeConfigFile, readCredentials, noCredentials),
      validating: read(validatingWebhooks.kubeConfigFile, readCredentials, noCredentials),
    },
    imagePolicy: read<EndpointSettings | undefined>(imagePolicy?.kubeConfigFile, readConnection, undefined),
  }
}

interface ReadConfig {
  readonly config: AdmissionConfig
  readonly rawConfigs: RawPluginConfigs
}

interface ReadContext {
  readonly identity: Identity
  readonly readText: ReadText
}

function readConfig(path: string | undefined, text: string, context: ReadContext): ReadConfig {
  try {
    const rawConfigs = path === undefined ? new Map<string, RawPluginConfig>() : parseAdmissionFile(path, text, context)
    return { config: readAdmissionConfig(rawConfigs, context.identity), rawConfigs }
  } catch (thrown) {
    throw flagError('admission-control-config-file', (thrown as Error).message)
  }
}

const configKinds = [
  { kind: 'AdmissionConfiguration', group: { stem: 'apiserver.config' }, versions: ['v1'] },
  { kind: 'AdmissionConfiguration', group: { stem: 'apiserver' }, versions: ['v1alpha1'] },
]

/** The configuration of a plugin is inline or in another file. */
function parseAdmissionFile(file: string, text: string, { identity, readText }: ReadContext): RawPluginConfigs {
  const rawConfigs = new Map<string, RawPluginConfig>()
  withFileName(file, () => {
    const fields = mappingOf(readYaml(text).value, 'the file')
    checkKind(fields, configKinds, { identity, where: '', known: ['plugins'] })
    for (const [i, item] of listOf(fields, 'plugins', '').entries()) {
      const where = `plugins[${i}]`
      const plugin = mappingOf(item, where)
      onlyFields(plugin, ['name', 'path', 'configuration'], where)
      const name = requiredText(plugin, 'name', where)
      if (!pluginNames.includes(name)) throw new Error(`${where}.name: unknown plugin ${JSON.stringify(name)}`)
      if (!configuredPlugins.includes(name)) throw new Error(`${where}.name: ${name} has no configuration`)
      if (rawConfigs.has(name)) throw new Error(`${where}.name: ${name} is given twice`)
      const configuration = plugin['configuration'] ?? undefined
      const pluginFile = textOf(plugin, 'path', where) ?? ''
      // As in kube-apiserver, the inline one wins.
      if (configuration !== undefined) rawConfigs.set(name, { value: configuration, file, where: `${where}.configuration` })
      else if (pluginFile !== '') rawConfigs.set(name, readPluginFile(resolve(dirname(file), pluginFile), `${where}.path`, readText))
    }
  })
  return rawConfigs
}

function readPluginFile(file: string, where: string, readText: ReadText): RawPluginConfig {
  let text: string
  try {
    text = readText(file)
  } catch (thrown) {
    throw new Error(`${where}: cannot read ${file}: ${(thrown as Error).message}`)
  }
  return { value: withFileName(file, () => readYaml(text).value), file, where: '' }
}

function withFileName<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    const { message } = thrown as Error
    throw message.startsWith(`${file}: `) ? thrown : new Error(`${file}: ${message}`)
  }
}
