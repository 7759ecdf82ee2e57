// The flags of admission as settings: which plugins run, and the file that configures them, with the files that it names.

import { dirname, resolve } from 'node:path'
import {
  type AdmissionConfig,
  configuredPlugins,
  readAdmissionConfig,
  unconfigured,
  type WrittenConfig,
  type WrittenConfigs,
} from '../../admission/config/admission-config.js'
import { checkKind, listOf, mappingOf, onlyFields, requiredText, textOf } from '../../admission/config/fields.js'
import { pluginNames } from '../../admission/plugin-table.js'
import type { Identity } from '../../api/identity.js'
import { readYaml } from '../../codec/yaml/read-yaml.js'
import type { EndpointSettings } from '../../net/json-endpoint.js'
import { type FindCredentials, readConnection, readCredentials } from '../connection-file.js'
import { type ReadText, readFromDisk } from './file-texts.js'
import { flagError } from './flag.js'
import type { SettingsInput } from './read-settings.js'
import type { AdmissionSettings } from './settings.js'

export function readAdmission(
  { values, files, readText = readFromDisk }: Pick<SettingsInput, 'values' | 'files'> & Partial<Pick<SettingsInput, 'readText'>>,
  identity: Identity,
): AdmissionSettings {
  const enabled = values['enable-admission-plugins']
  const disabled = values['disable-admission-plugins']
  const both = enabled.find((plugin) => disabled.includes(plugin))
  if (both !== undefined) throw flagError('disable-admission-plugins', `${both} is also in --enable-admission-plugins`)
  const path = values['admission-control-config-file']
  const { config, written } = readConfig(path, path === undefined ? '' : (files.get(path) ?? ''), { identity, readText })
  const lacking = unconfigured({ enabled, disabled }, written)
  if (lacking !== undefined)
    throw flagError('enable-admission-plugins', `${lacking} needs a configuration; name it in --admission-control-config-file`)
  return {
    enabled,
    disabled,
    config,
    ...connectionsOf(config, readText),
    allowsPlainHooks: values['insecure-loopback-webhooks'],
    recordedReviews: values['recorded-admission-reviews'],
    notReadyTolerationSeconds: values['default-not-ready-toleration-seconds'],
    unreachableTolerationSeconds: values['default-unreachable-toleration-seconds'],
  }
}

/** The files that configurations of plugins name for connections to others. */
function connectionsOf(
  { mutatingWebhooks, validatingWebhooks, imagePolicy }: AdmissionConfig,
  readText: ReadText,
): Pick<AdmissionSettings, 'hookCredentials' | 'imagePolicy'> {
  const read = <T>(path: string | undefined, parse: (path: string, text: string, readText: ReadText) => T, otherwise: T): T => {
    if (path === undefined) return otherwise
    try {
      return parse(path, readText(path), readText)
    } catch (thrown) {
      throw flagError('admission-control-config-file', `kubeConfigFile ${path}: ${(thrown as Error).message}`)
    }
  }
  const nobody: FindCredentials = () => undefined
  return {
    hookCredentials: {
      mutating: read(mutatingWebhooks.kubeConfigFile, readCredentials, nobody),
      validating: read(validatingWebhooks.kubeConfigFile, readCredentials, nobody),
    },
    imagePolicy: read<EndpointSettings | undefined>(imagePolicy?.kubeConfigFile, readConnection, undefined),
  }
}

interface ReadConfig {
  readonly config: AdmissionConfig
  readonly written: WrittenConfigs
}

interface Reading {
  readonly identity: Identity
  readonly readText: ReadText
}

function readConfig(path: string | undefined, text: string, reading: Reading): ReadConfig {
  try {
    const written = path === undefined ? new Map<string, WrittenConfig>() : parseAdmissionFile(path, text, reading)
    return { config: readAdmissionConfig(written, reading.identity), written }
  } catch (thrown) {
    throw flagError('admission-control-config-file', (thrown as Error).message)
  }
}

const kinds = [
  { kind: 'AdmissionConfiguration', group: { stem: 'apiserver.config' }, versions: ['v1'] },
  { kind: 'AdmissionConfiguration', group: { stem: 'apiserver' }, versions: ['v1alpha1'] },
]

/** Each plugin has its configuration in the file, or names another file. */
function parseAdmissionFile(file: string, text: string, { identity, readText }: Reading): WrittenConfigs {
  const written = new Map<string, WrittenConfig>()
  within(file, () => {
    const fields = mappingOf(readYaml(text).value, 'the file')
    checkKind(fields, kinds, { identity, where: '', known: ['plugins'] })
    for (const [i, each] of listOf(fields, 'plugins', '').entries()) {
      const where = `plugins[${i}]`
      const plugin = mappingOf(each, where)
      onlyFields(plugin, ['name', 'path', 'configuration'], where)
      const name = requiredText(plugin, 'name', where)
      if (!pluginNames.includes(name)) throw new Error(`${where}.name: there is no plugin ${JSON.stringify(name)}`)
      if (!configuredPlugins.includes(name)) throw new Error(`${where}.name: ${name} has nothing to configure`)
      if (written.has(name)) throw new Error(`${where}.name: ${name} is there twice`)
      const configuration = plugin['configuration'] ?? undefined
      const other = textOf(plugin, 'path', where) ?? ''
      // As in the reference, what is embedded counts before what is named.
      if (configuration !== undefined) written.set(name, { value: configuration, file, where: `${where}.configuration` })
      else if (other !== '') written.set(name, readOther(resolve(dirname(file), other), `${where}.path`, readText))
    }
  })
  return written
}

function readOther(file: string, where: string, readText: ReadText): WrittenConfig {
  let text: string
  try {
    text = readText(file)
  } catch (thrown) {
    throw new Error(`${where}: cannot read ${file}: ${(thrown as Error).message}`)
  }
  return { value: within(file, () => readYaml(text).value), file, where: '' }
}

function within<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    const { message } = thrown as Error
    throw message.startsWith(`${file}: `) ? thrown : new Error(`${file}: ${message}`)
  }
}
