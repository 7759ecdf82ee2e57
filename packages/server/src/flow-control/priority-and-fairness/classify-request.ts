// Which flow schema takes a request: the first that matches, by precedence and name. What depends on the user alone is worked out once for each.

import type { RequestInfo } from '../../api/request-info.js'
import type { User } from '../../api/user.js'
import { onceFor } from '../../base/once-for.js'
import { compareText } from '../../base/text-order.js'
import type { FlowRule, FlowSchemaObject, FlowSubject } from './flow-objects.js'

export type FlowAttributes = Pick<RequestInfo, 'isResource' | 'verb' | 'group' | 'namespace' | 'resource' | 'subresource' | 'path'>

/** Gives the first schema that takes a request; undefined where none does. */
export type Classify<S> = (user: User, info: FlowAttributes) => S | undefined

type Matches = (info: FlowAttributes) => boolean

interface Candidate<S> {
  readonly schema: S
  readonly rules: readonly Matches[]
}

/** `schemas` with what stands for each in the answer. */
export function classifier<S>(schemas: readonly { readonly object: FlowSchemaObject; readonly schema: S }[]): Classify<S> {
  const ordered = [...schemas].sort(({ object: a }, { object: b }) => a.precedence - b.precedence || compareText(a.name, b.name))
  const compiled = ordered.map(({ object, schema }) => ({
    schema,
    rules: object.rules.map((rule) => ({ subjects: rule.subjects ?? [], matches: compileRule(rule) })),
  }))
  const candidatesOf = onceFor((user: User): readonly Candidate<S>[] =>
    compiled
      .map(({ schema, rules }) => ({
        schema,
        rules: rules.filter(({ subjects }) => subjects.some((subject) => isMeant(user, subject))).map(({ matches }) => matches),
      }))
      .filter(({ rules }) => rules.length > 0),
  )
  return (user, info) => {
    for (const { schema, rules } of candidatesOf(user)) for (const matches of rules) if (matches(info)) return schema
    return undefined
  }
}

const accountPrefix = 'system:serviceaccount:'

function isMeant({ name, groups }: User, subject: FlowSubject): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.user?.name === '*' || subject.user?.name === name
    case 'Group':
      return subject.group?.name === '*' || groups.includes(subject.group?.name ?? '')
    case 'ServiceAccount': {
      const { namespace = '', name: account = '' } = subject.serviceAccount ?? {}
      const beginning = `${accountPrefix}${namespace}:`
      return account === '*' ? name.startsWith(beginning) : name === beginning + account
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
    const path = pathIn(rule.nonResourceURLs ?? [])
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

/** A path stands for everything below it, too. */
function pathIn(urls: readonly string[]): (path: string) => boolean {
  if (urls.includes('*')) return always
  const exact = new Set(urls)
  const beginnings = urls.map((url) => {
    const plain = url.endsWith('*') ? url.slice(0, -1) : url
    return plain.endsWith('/') ? plain : `${plain}/`
  })
  return (path) => exact.has(path) || beginnings.some((beginning) => path.startsWith(beginning))
}
