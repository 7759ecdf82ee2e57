// Pod Security policy of a namespace: levels, versions, and the labels that set them.

import { type FieldError, invalid } from '@cluster-apiserver/api/api/field-error.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'

const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]

export interface LevelVersion {
  readonly level: Level
  /** `latest` or `v1.<minor>`. */
  readonly version: string
}

export const isLevel = (text: string): text is Level => (levels as readonly string[]).includes(text)

export const isStricter = (one: Level, other: Level): boolean => levels.indexOf(one) > levels.indexOf(other)

export const isSamePolicy = (one: LevelVersion, other: LevelVersion): boolean => one.level === other.level && one.version === other.version

export const nameOf = ({ level, version }: LevelVersion): string => `${level}:${version}`

const versionPattern = /^v1\.(?:0|[1-9][0-9]{0,8})$/

export const parseVersion = (text: string): string | undefined => (text === 'latest' || versionPattern.test(text) ? text : undefined)

export const minorOf = (version: string): number => (version === 'latest' ? Number.POSITIVE_INFINITY : Number(version.slice('v1.'.length)))

export interface Policy {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

type Mode = keyof Policy

/** In the order in which invalid labels are reported. */
const modes = ['enforce', 'audit', 'warn'] as const satisfies readonly Mode[]

export interface ParsedPolicy {
  readonly policy: Policy
  readonly errors: readonly FieldError[]
}

type Labels = { readonly [name: string]: string }

/** An invalid enforce label enforces `restricted`; an invalid audit or warn label means `privileged`. */
export function policyOf(labels: Labels | undefined, defaults: Policy, identity: Identity): ParsedPolicy {
  if (labels === undefined) return { policy: defaults, errors: [] }
  const errors: FieldError[] = []
  const parseMode = (mode: Mode): ParsedMode => {
    const name = identity.label(mode, 'pod-security')
    const text = labels[name]
    const hasValidLevel = text !== undefined && isLevel(text)
    if (text !== undefined && !hasValidLevel) errors.push(invalid(`metadata.labels[${name}]`, text, `must be one of ${levels.join(', ')}`))
    const fallback = text === undefined ? defaults[mode].level : mode === 'enforce' ? 'restricted' : 'privileged'
    const versionName = identity.label(`${mode}-version`, 'pod-security')
    const versionText = labels[versionName]
    const version = versionText === undefined ? defaults[mode].version : parseVersion(versionText)
    if (version === undefined) errors.push(invalid(`metadata.labels[${versionName}]`, versionText ?? '', 'must be "latest" or "v1.x"'))
    return {
      level: hasValidLevel ? text : fallback,
      version: version ?? 'latest',
      hasValidLevel,
      hasLevel: text !== undefined,
      hasVersion: versionText !== undefined,
    }
  }
  const enforce = parseMode('enforce')
  const audit = parseMode('audit')
  const warn = parseMode('warn')
  // Without a warn label, warnings follow a stricter enforce level, so that templates are warned about before their pods are rejected.
  const followsEnforce = enforce.hasValidLevel && !warn.hasLevel && isStricter(enforce.level, warn.level)
  const effectiveWarn = followsEnforce ? { level: enforce.level, version: warn.hasVersion ? warn.version : enforce.version } : warn
  return { policy: { enforce: levelVersionOf(enforce), audit: levelVersionOf(audit), warn: levelVersionOf(effectiveWarn) }, errors }
}

interface ParsedMode extends LevelVersion {
  /** True if the label exists and names a level. */
  readonly hasValidLevel: boolean
  readonly hasLevel: boolean
  readonly hasVersion: boolean
}

const levelVersionOf = ({ level, version }: LevelVersion): LevelVersion => ({ level, version })

export function describePolicy(policy: Policy, labels: Labels, identity: Identity): string {
  const labelled = modes.filter(
    (mode) =>
      policy[mode].level !== 'privileged' &&
      (labels[identity.label(mode, 'pod-security')] ?? labels[identity.label(`${mode}-version`, 'pod-security')]) !== undefined,
  )
  return labelled.map((mode) => `${mode}=${nameOf(policy[mode])}`).join(', ')
}

export const allowsAll = ({ enforce, audit, warn }: Policy): boolean =>
  enforce.level === 'privileged' && audit.level === 'privileged' && warn.level === 'privileged'
