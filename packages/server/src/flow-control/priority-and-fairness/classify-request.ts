// Finds the FlowSchema of a request: the first that matches, by matchingPrecedence and name. Subjects are matched once per user.

import type { RequestInfo } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { FlowRule, FlowSchemaConfig, FlowSubject } from './flow-schema-config.js'

type FlowAttributes = Pick<RequestInfo, 'isResource' | 'verb' | 'group' | 'namespace' | 'resource' | 'subresource' | 'path'>

export type Classify<S> = (user: User, info: FlowAttributes) => S | undefined

type Matches = (info: FlowAttributes) => boolean

interface Candidate<S> {
  readonly schema: S
  readonly rules: readonly Matches[]
}

export function classifier<S>(schemas: readonly { readonly config: FlowSchemaConfig; readonly schema: S }[]): Classify<S> {
  const ordered = [...schemas].sort(({ config: a }, { config: b }) => a.precedence - b.precedence || compareText(a.name, b.name))
  const compiled = ordered.map(({ config, schema }) => ({
    schema,
    rules: config.rules.map((rule) => ({ subjects: rule.subjects ?? [], matches: compileRule(rule) })),
  }))
  const candidatesOf = weakMemoize((user: User): readonly Candidate<S>[] =>
    compiled
      .map(({ schema, rules }) => ({
        schema,
        rules: rules.filter(({ subjects }) => subjects.some((subject) => matchesSubject(user, subject))).map(({ matches }) => matches),
      }))
      .filter(({ rules }) => rules.length > 0),
  )
  return (user, info) => {
    for (const { schema, rules } of candidatesOf(user)) for (const matches of rules) if (matches(info)) return schema
    return undefined
  }
}

const accountPrefix = 'system:serviceaccount:'

function matchesSubject({ name, groups }: User, subject: FlowSubject): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.user?.name === '*' || subject.user?.name === name
    case 'Group':
      return subject.group?.name === '*' || groups.includes(subject.group?.name ?? '')
    case 'ServiceAccount': {
      const { namespace = '', name: account = '' } = subject.serviceAccount ?? {}
      const prefix = `${accountPrefix}${namespace}:`
      return account === '*' ? name.startsWith(prefix) : name === prefix + account
    }
    default:
      return false
  }
}

function compileRule({ resourceRules = [], nonResourceRules = [] }: FlowRule): Matches {
  const resources = resourceRules.map((rule): Matches => {
    const [verb, group] = [oneOf(rule.verbs), oneOf(rule.apiGroups)]
    const [resource, namespace] = [oneOf(rule.resources), oneOf(rule.namespaces)]
    const { clusterScope = false } = rule
    return (info) =>
      verb(info.verb) &&
      group(info.group) &&
      resource(info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`) &&
      (info.namespace === '' ? clusterScope : namespace(info.namespace))
  })
  const paths = nonResourceRules.map((rule): Matches => {
    const verb = oneOf(rule.verbs)
    const path = matchPath(rule.nonResourceURLs ?? [])
    return (info) => verb(info.verb) && path(info.path)
  })
  return (info) => {
    for (const matches of info.isResource ? resources : paths) if (matches(info)) return true
    return false
  }
}

const always = (): boolean => true

function oneOf(texts: readonly string[] = []): (text: string) => boolean {
  if (texts.includes('*')) return always
  const set = new Set(texts)
  return (text) => set.has(text)
}

/** A URL matches itself and all paths below it; with a final `*`, only the paths below it. */
function matchPath(urls: readonly string[]): (path: string) => boolean {
  if (urls.includes('*')) return always
  const exact = new Set(urls)
  const prefixes = urls.map((url) => {
    const directory = url.endsWith('*') ? url.slice(0, -1) : url
    return directory.endsWith('/') ? directory : `${directory}/`
  })
  return (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}
