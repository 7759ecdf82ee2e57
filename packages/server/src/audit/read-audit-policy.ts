// Reads --audit-policy-file and validates it like kube-apiserver.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { type FieldError, invalid, notSupported, required } from '@cluster-apiserver/api/api/field-error.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { dnsSubdomain } from '@cluster-apiserver/api/api/validation/name-formats.js'
import { decodeBody } from '@cluster-apiserver/api/codec/decode-object.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import {
  type GroupResources,
  type Policy,
  type PolicyRule,
  policy as policySchema,
} from '@cluster-apiserver/api/resources/audit/v1.schema.js'
import { auditLevels, auditStages } from './audit-policy.js'

interface ReadPolicy {
  readonly policy: Policy
  readonly warnings: readonly string[]
}

export function readPolicy(text: string, { identity, path }: { readonly identity: Identity; readonly path: string }): ReadPolicy {
  const fail = (problem: string): never => {
    throw new Error(`loading audit policy file: ${problem}: from file ${path}`)
  }
  const { policy, warnings } = decode(text, identity, fail)
  const rules = policy.rules ?? []
  const messages = messagesOf(rules.flatMap((rule, i) => checkRule(rule, `rules[${i}]`)))
  if (messages.length > 0) fail(messages.length === 1 ? (messages[0] as string) : `[${messages.join(', ')}]`)
  if (rules.length === 0) fail('loaded illegal policy with 0 rules')
  // kube-apiserver does not check omitStages of the whole policy, so an unknown stage there is only a warning.
  return { policy, warnings: [...warnings, ...messagesOf(checkStages(policy.omitStages, 'omitStages'))] }
}

const messagesOf = (errors: readonly FieldError[]): readonly string[] => [
  ...new Set(errors.map(({ field, message }) => `${field}: ${message}`)),
]

function decode(text: string, identity: Identity, fail: (problem: string) => never): ReadPolicy {
  const expected = { kind: 'Policy', apiVersion: `${identity.group({ stem: 'audit' })}/v1`, schema: policySchema }
  try {
    const { kind = expected.kind, apiVersion = '' } = (readYaml(text).value ?? {}) as {
      readonly kind?: unknown
      readonly apiVersion?: unknown
    }
    if (apiVersion === '') return fail(`unknown group version field ${identity.group({ stem: 'audit' })}/__internal, Kind=Policy in policy`)
    if (kind !== expected.kind || apiVersion !== expected.apiVersion)
      return fail(`failed decoding: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`)
    const { object, problems } = decodeBody('yaml', Buffer.from(text), expected)
    return { policy: object as unknown as Policy, warnings: problems }
  } catch (thrown) {
    if (thrown instanceof ApiError) return fail(`failed decoding: ${thrown.message}`)
    throw thrown
  }
}

function checkRule(rule: PolicyRule, field: string): readonly FieldError[] {
  return [
    ...checkLevel(rule.level ?? '', `${field}.level`),
    ...checkUrls(rule.nonResourceURLs, `${field}.nonResourceURLs`),
    // The field path has no index, as in kube-apiserver.
    ...(rule.resources ?? []).flatMap((group) => checkGroup(group, `${field}.resources`)),
    ...checkStages(rule.omitStages, `${field}.omitStages`),
    ...checkResourcesOrUrls(rule, `${field}.nonResourceURLs`),
  ]
}

const checkResourcesOrUrls = (
  { nonResourceURLs: urls = [], resources = [], namespaces = [] }: PolicyRule,
  field: string,
): readonly FieldError[] =>
  urls.length > 0 && (resources.length > 0 || namespaces.length > 0)
    ? [invalidTexts(field, urls, 'rules cannot apply to both regular resources and non-resource URLs')]
    : []

function checkLevel(level: string, field: string): readonly FieldError[] {
  if (level === '') return [required(field)]
  return (auditLevels as readonly string[]).includes(level) ? [] : [notSupported(field, level, auditLevels)]
}

function checkUrls(urls: readonly string[] = [], field: string): readonly FieldError[] {
  return urls.flatMap((url, i) => {
    if (url === '*') return []
    const problems: FieldError[] = []
    if (!url.startsWith('/')) problems.push(invalid(`${field}[${i}]`, url, "non-resource URL rules must begin with a '/' character"))
    if (url.slice(0, -1).includes('*'))
      problems.push(invalid(`${field}[${i}]`, url, "non-resource URL wildcards '*' must be the final character of the rule"))
    return problems
  })
}

function checkGroup({ group = '', resources = [], resourceNames = [] }: GroupResources, field: string): readonly FieldError[] {
  const problems = group === '' ? [] : dnsSubdomain(group)
  return [
    ...(problems.length === 0 ? [] : [invalid(`${field}.group`, group, problems.join(','))]),
    ...(resourceNames.length > 0 && resources.length === 0
      ? [invalidTexts(`${field}.resourceNames`, resourceNames, 'using resourceNames requires at least one resource')]
      : []),
  ]
}

const checkStages = (stages: readonly string[] = [], field: string): readonly FieldError[] =>
  stages.flatMap((stage, i) =>
    (auditStages as readonly string[]).includes(stage)
      ? []
      : [invalid(`${field}[${i}]`, stage, `allowed stages are ${auditStages.join(',')}`)],
  )

const invalidTexts = (field: string, texts: readonly string[], detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: []string{${texts.map((text) => JSON.stringify(text)).join(', ')}}: ${detail}`,
})
