// Which pod security standard counts, and in which release's form: levels, versions, and the labels of namespaces that choose them.

import { type FieldError, invalid } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'

export const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]

export interface LevelVersion {
  readonly level: Level
  /** `latest` or `v1.` and a number. */
  readonly version: string
}

export const isLevel = (text: string): text is Level => (levels as readonly string[]).includes(text)

export const isStricter = (one: Level, other: Level): boolean => levels.indexOf(one) > levels.indexOf(other)

export const isSamePolicy = (one: LevelVersion, other: LevelVersion): boolean => one.level === other.level && one.version === other.version

/** As policies are named in messages. */
export const nameOf = ({ level, version }: LevelVersion): string => `${level}:${version}`

const versionForm = /^v1\.(?:0|[1-9][0-9]{0,8})$/

/** Undefined where it is no version. */
export const parseVersion = (text: string): string | undefined => (text === 'latest' || versionForm.test(text) ? text : undefined)

/** The number of the release whose checks count. */
export const minorOf = (version: string): number => (version === 'latest' ? Number.POSITIVE_INFINITY : Number(version.slice('v1.'.length)))

/** What is enforced, written to the audit log and warned of. */
export interface Policy {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

export type Mode = keyof Policy

/** In the order in which their labels are looked at. */
export const modes = ['enforce', 'audit', 'warn'] as const satisfies readonly Mode[]

export interface ReadPolicy {
  readonly policy: Policy
  readonly errors: readonly FieldError[]
}

type Labels = { readonly [name: string]: string }

/** The labels that say what the policy of a namespace is. */
export const policyLabels = (identity: Identity): readonly string[] =>
  (['enforce', 'audit', 'warn'] as const).flatMap((mode) => [
    identity.label(mode, 'pod-security'),
    identity.label(`${mode}-version`, 'pod-security'),
  ])

/** The policy of a namespace. What cannot be read is enforced as strictly as there is, and neither warned of nor noted down. */
export function policyOf(labels: Labels | undefined, defaults: Policy, identity: Identity): ReadPolicy {
  if (labels === undefined) return { policy: defaults, errors: [] }
  const errors: FieldError[] = []
  const read = (mode: Mode): ReadMode => {
    const name = identity.label(mode, 'pod-security')
    const text = labels[name]
    const isKnown = text !== undefined && isLevel(text)
    if (text !== undefined && !isKnown) errors.push(invalid(`metadata.labels[${name}]`, text, `must be one of ${levels.join(', ')}`))
    const otherwise = text === undefined ? defaults[mode].level : mode === 'enforce' ? 'restricted' : 'privileged'
    const versionName = identity.label(`${mode}-version`, 'pod-security')
    const versionText = labels[versionName]
    const version = versionText === undefined ? defaults[mode].version : parseVersion(versionText)
    if (version === undefined) errors.push(invalid(`metadata.labels[${versionName}]`, versionText ?? '', 'must be "latest" or "v1.x"'))
    return {
      level: isKnown ? text : otherwise,
      version: version ?? 'latest',
      isKnown,
      hasLevel: text !== undefined,
      hasVersion: versionText !== undefined,
    }
  }
  const enforce = read('enforce')
  const audit = read('audit')
  const warn = read('warn')
  // Whoever only enforces is warned by the same policy: of templates, whose pods would be refused later.
  const follows = enforce.isKnown && !warn.hasLevel && isStricter(enforce.level, warn.level)
  const warned = follows ? { level: enforce.level, version: warn.hasVersion ? warn.version : enforce.version } : warn
  return { policy: { enforce: plain(enforce), audit: plain(audit), warn: plain(warned) }, errors }
}

interface ReadMode extends LevelVersion {
  /** Whether there is a label for the level, and it names one. */
  readonly isKnown: boolean
  readonly hasLevel: boolean
  readonly hasVersion: boolean
}

const plain = ({ level, version }: LevelVersion): LevelVersion => ({ level, version })

/** What the labels ask for, in short; where they ask for nothing in particular, nothing. */
export function describePolicy(policy: Policy, labels: Labels, identity: Identity): string {
  const asked = modes.filter(
    (mode) =>
      policy[mode].level !== 'privileged' &&
      (labels[identity.label(mode, 'pod-security')] ?? labels[identity.label(`${mode}-version`, 'pod-security')]) !== undefined,
  )
  return asked.map((mode) => `${mode}=${nameOf(policy[mode])}`).join(', ')
}

export const allowsAll = ({ enforce, audit, warn }: Policy): boolean =>
  enforce.level === 'privileged' && audit.level === 'privileged' && warn.level === 'privileged'
