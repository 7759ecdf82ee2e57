// Configuration of PodSecurity: the policy of namespaces without labels, and exemptions.

import { dnsLabel, dnsSubdomain, type TextRule } from '@cluster-apiserver/api/api/validation/name-formats.js'
import { isLevel, type LevelVersion, parseVersion } from '../pod-security/namespace-policy.js'
import { type ConfigContext, checkKind, childPath, type Fields, mappingOf, onlyFields, textOf, textsOf } from './config-fields.js'

export interface PodSecuritySettings {
  readonly defaults: { readonly enforce: LevelVersion; readonly audit: LevelVersion; readonly warn: LevelVersion }
  readonly exemptions: {
    readonly usernames: ReadonlySet<string>
    readonly namespaces: ReadonlySet<string>
    readonly runtimeClasses: ReadonlySet<string>
  }
}

const privileged: LevelVersion = { level: 'privileged', version: 'latest' }

export const defaultPodSecurity: PodSecuritySettings = {
  defaults: { enforce: privileged, audit: privileged, warn: privileged },
  exemptions: { usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() },
}

const kinds = [
  { kind: 'PodSecurityConfiguration', group: { stem: 'pod-security.admission.config' }, versions: ['v1', 'v1beta1', 'v1alpha1'] },
]
const modes = ['enforce', 'audit', 'warn'] as const

export function parsePodSecurity(value: unknown, { identity, where }: ConfigContext): PodSecuritySettings {
  const fields = mappingOf(value, where)
  checkKind(fields, kinds, { identity, where, known: ['defaults', 'exemptions'] })
  const defaultsPath = childPath(where, 'defaults')
  const exemptionsPath = childPath(where, 'exemptions')
  const defaults = mappingOf(fields['defaults'] ?? {}, defaultsPath)
  onlyFields(defaults, [...modes, ...modes.map((mode) => `${mode}-version`)], defaultsPath)
  const exemptions = mappingOf(fields['exemptions'] ?? {}, exemptionsPath)
  onlyFields(exemptions, ['usernames', 'namespaces', 'runtimeClasses'], exemptionsPath)
  const levelVersionOf = (mode: (typeof modes)[number]): LevelVersion => parseLevelVersion(defaults, mode, defaultsPath)
  const exemptionsOf = (name: string, rule: TextRule): ReadonlySet<string> =>
    parseExemptions(exemptions, { name, rule, where: exemptionsPath })
  return {
    defaults: { enforce: levelVersionOf('enforce'), audit: levelVersionOf('audit'), warn: levelVersionOf('warn') },
    exemptions: {
      usernames: exemptionsOf('usernames', (text) => (text === '' ? ['must not be empty'] : [])),
      namespaces: exemptionsOf('namespaces', dnsLabel),
      runtimeClasses: exemptionsOf('runtimeClasses', dnsSubdomain),
    },
  }
}

function parseLevelVersion(fields: Fields, mode: string, where: string): LevelVersion {
  const level = textOf(fields, mode, where) || privileged.level
  if (!isLevel(level)) throw new Error(`${where}.${mode}: must be one of privileged, baseline, restricted`)
  const version = parseVersion(textOf(fields, `${mode}-version`, where) || privileged.version)
  if (version === undefined) throw new Error(`${where}.${mode}-version: must be "latest" or "v1.x"`)
  return { level, version }
}

interface ExemptionField {
  readonly name: string
  readonly rule: TextRule
  readonly where: string
}

function parseExemptions(fields: Fields, { name, rule, where }: ExemptionField): ReadonlySet<string> {
  const texts = textsOf(fields, name, where)
  for (const [i, text] of texts.entries()) {
    const [problem] = rule(text)
    if (problem !== undefined) throw new Error(`${where}.${name}[${i}]: ${problem}`)
    if (texts.indexOf(text) !== i) throw new Error(`${where}.${name}[${i}]: duplicate value ${JSON.stringify(text)}`)
  }
  return new Set(texts)
}
