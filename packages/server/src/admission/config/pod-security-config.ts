// The configuration of PodSecurity: the policy of namespaces that say none, and to whom no policy applies.

import { dnsLabel, dnsSubdomain, type TextRule } from '../../api/validation/text-rules.js'
import { isLevel, type LevelVersion, parseVersion } from '../pod-security/policy.js'
import type { ConfigContext } from './admission-config.js'
import { checkKind, type Fields, mappingOf, onlyFields, textOf, textsOf } from './fields.js'

export interface PodSecuritySettings {
  readonly defaults: { readonly enforce: LevelVersion; readonly audit: LevelVersion; readonly warn: LevelVersion }
  readonly exemptions: {
    readonly usernames: ReadonlySet<string>
    readonly namespaces: ReadonlySet<string>
    readonly runtimeClasses: ReadonlySet<string>
  }
}

const anything: LevelVersion = { level: 'privileged', version: 'latest' }

export const usualPodSecurity: PodSecuritySettings = {
  defaults: { enforce: anything, audit: anything, warn: anything },
  exemptions: { usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() },
}

const kinds = [
  { kind: 'PodSecurityConfiguration', group: { stem: 'pod-security.admission.config' }, versions: ['v1', 'v1beta1', 'v1alpha1'] },
]
const modes = ['enforce', 'audit', 'warn'] as const

export function parsePodSecurity(value: unknown, { identity, where }: ConfigContext): PodSecuritySettings {
  const fields = mappingOf(value, where)
  checkKind(fields, kinds, { identity, where, known: ['defaults', 'exemptions'] })
  const place = (name: string): string => (where === '' ? name : `${where}.${name}`)
  const defaults = mappingOf(fields['defaults'] ?? {}, place('defaults'))
  onlyFields(defaults, [...modes, ...modes.map((mode) => `${mode}-version`)], place('defaults'))
  const exemptions = mappingOf(fields['exemptions'] ?? {}, place('exemptions'))
  onlyFields(exemptions, ['usernames', 'namespaces', 'runtimeClasses'], place('exemptions'))
  const policyOf = (mode: (typeof modes)[number]): LevelVersion => policyIn(defaults, mode, place('defaults'))
  const exempt = (name: string, rule: TextRule): ReadonlySet<string> => exemptIn(exemptions, { name, rule, where: place('exemptions') })
  return {
    defaults: { enforce: policyOf('enforce'), audit: policyOf('audit'), warn: policyOf('warn') },
    exemptions: {
      usernames: exempt('usernames', (text) => (text === '' ? ['must not be empty'] : [])),
      namespaces: exempt('namespaces', dnsLabel),
      runtimeClasses: exempt('runtimeClasses', dnsSubdomain),
    },
  }
}

function policyIn(fields: Fields, mode: string, where: string): LevelVersion {
  const level = textOf(fields, mode, where) || anything.level
  if (!isLevel(level)) throw new Error(`${where}.${mode}: must be one of privileged, baseline, restricted`)
  const version = parseVersion(textOf(fields, `${mode}-version`, where) || anything.version)
  if (version === undefined) throw new Error(`${where}.${mode}-version: must be "latest" or "v1.x"`)
  return { level, version }
}

interface Exempt {
  readonly name: string
  readonly rule: TextRule
  readonly where: string
}

function exemptIn(fields: Fields, { name, rule, where }: Exempt): ReadonlySet<string> {
  const texts = textsOf(fields, name, where)
  for (const [i, text] of texts.entries()) {
    const [problem] = rule(text)
    if (problem !== undefined) throw new Error(`${where}.${name}[${i}]: ${problem}`)
    if (texts.indexOf(text) !== i) throw new Error(`${where}.${name}[${i}]: ${JSON.stringify(text)} is there twice`)
  }
  return new Set(texts)
}
