// Worst-case headers, queries, selectors and tokens, some of which anonymous clients can send.

import { identityOf } from '../../packages/api/src/api/identity.js'
import { decodeContinueToken } from '../../packages/api/src/api/options/continue-token.js'
import { readQuery } from '../../packages/api/src/api/options/query.js'
import { getVersion } from '../../packages/api/src/api/options/resource-version-match.js'
import { parseFieldSelector } from '../../packages/api/src/api/selectors/field-selector.js'
import { compileLabelSelector } from '../../packages/api/src/api/selectors/label-selector.js'
import { parseAccept } from '../../packages/api/src/codec/accept-header.js'
import { parseMediaType } from '../../packages/api/src/codec/content-negotiation.js'
import { attempt, fill, fillWith, maxHeaderBytes, type Shape } from './shape.js'

export interface TextSubject {
  readonly subject: string
  readonly read: (text: string) => unknown
  readonly maxBytes: number
}

const headerBytes = { maxBytes: maxHeaderBytes }

const identity = identityOf('cluster')

export const accept: TextSubject = {
  subject: 'Accept',
  // The last header is cached; two alternating ones are parsed each time.
  read: (text) => [parseAccept(text), parseAccept('a/b')],
  ...headerBytes,
}
export const mediaType: TextSubject = { subject: 'Content-Type', read: parseMediaType, ...headerBytes }
export const query: TextSubject = {
  subject: 'query',
  // The last query is cached; two alternating ones are parsed each time.
  read: (text) => [readQuery(text).first('a'), readQuery('a=b')],
  ...headerBytes,
}
export const labelSelector: TextSubject = { subject: 'label selector', read: compileLabelSelector, ...headerBytes }
export const fieldSelector: TextSubject = { subject: 'field selector', read: parseFieldSelector, ...headerBytes }
const continueToken: TextSubject = { subject: 'continue token', read: (text) => decodeContinueToken(text, identity), ...headerBytes }
const resourceVersion: TextSubject = { subject: 'resourceVersion', read: getVersion, ...headerBytes }

export const textShape = ({ subject, read, maxBytes }: TextSubject, name: string, make: (bytes: number) => string): Shape => ({
  subject,
  name,
  maxBytes,
  prepare: (bytes) => {
    const text = make(bytes)
    return () => attempt(() => read(text))
  },
})

const base64Url = (text: string): string => Buffer.from(text).toString('base64url')

export const headerShapes: readonly Shape[] = [
  textShape(accept, 'clauses', (n) => fillWith((i) => `a/b${i};q=0.${i % 10}`, ',', n)),
  textShape(accept, 'commas', (n) => fill(',', n)),
  textShape(accept, 'zeros of a q-value', (n) => `a/b;q=${fill('0', n)}x`),
  textShape(accept, 'decimals of a q-value', (n) => `a/b;q=0.${fill('1', n)}x`),
  textShape(accept, 'parameters', (n) => `a/b;${fillWith((i) => `p${i}=1`, ';', n)}`),
  textShape(accept, 'equals signs', (n) => `a/b;p${fill('=', n)}`),
  textShape(accept, 'slashes', (n) => `a${fill('/', n)}`),
  textShape(accept, 'spaces', (n) => `a/b;${fill(' ', n)}q=1`),
  textShape(mediaType, 'parameters', (n) => `a/b${fillWith((i) => `;p${i}=1`, '', n)}`),
  textShape(mediaType, 'long parameter', (n) => `a/b;p=${fill('x', n)}`),
  textShape(mediaType, 'long quoted parameter', (n) => `a/b;p="${fill('\\"', n)}`),
  textShape(mediaType, 'spaces', (n) => `a/b${fill(' ', n)};`),
  textShape(mediaType, 'long type', (n) => `${fill('a', n)}/`),
  textShape(query, 'parameters', (n) => fillWith((i) => `p${i}=1`, '&', n)),
  textShape(query, 'one parameter many times', (n) => fill('a=1&', n)),
  textShape(query, 'escapes', (n) => `a=${fill('%41', n)}`),
  textShape(query, 'escaped invalid UTF-8', (n) => `a=${fill('%ff', n)}`),
  textShape(query, 'parameters with escaped invalid UTF-8', (n) => fill('%41&%ff%41&', n)),
  textShape(query, 'truncated escapes', (n) => `a=${fill('%4', n)}`),
  textShape(query, 'plus signs', (n) => `a=${fill('+', n)}`),
  textShape(query, 'ampersands', (n) => fill('&', n)),
  textShape(labelSelector, 'requirements', (n) => fillWith((i) => `k${i}=v`, ',', n)),
  textShape(labelSelector, 'requirements of one key', (n) => fill('k!=v,', n).slice(0, -1)),
  textShape(labelSelector, 'values', (n) => `k in (${fillWith((i) => `v${i}`, ',', n)})`),
  textShape(labelSelector, 'equal values', (n) => `k notin (${fill('v,', n)}v)`),
  textShape(labelSelector, 'bad values', (n) => `k in (${fillWith((i) => `-${i}-`, ',', n)})`),
  textShape(labelSelector, 'long value', (n) => `k=${fill('v', n)}`),
  textShape(labelSelector, 'long key', (n) => fill('k', n)),
  textShape(labelSelector, 'key of dots', (n) => `${fill('a.', n)}/b`),
  textShape(labelSelector, 'long number', (n) => `k>${fill('0', n)}1`),
  textShape(labelSelector, 'spaces', (n) => `k${fill(' ', n)}`),
  textShape(labelSelector, 'exclamation marks', (n) => fill('!', n)),
  textShape(labelSelector, 'unicode', (n) => `k in (${fillWith((i) => `é${i}😀`, ',', n / 2)})`),
  textShape(fieldSelector, 'terms', (n) => fillWith((i) => `f${i}=v`, ',', n)),
  textShape(fieldSelector, 'escapes', (n) => `f=${fill('\\,', n)}`),
  textShape(fieldSelector, 'equals signs', (n) => `f${fill('=', n)}`),
  textShape(fieldSelector, 'exclamation marks', (n) => fill('!', n)),
  textShape(fieldSelector, 'commas', (n) => fill(',', n)),
  textShape(continueToken, 'long key', (n) => base64Url(`{"v":"meta.cluster.io/v1","rv":5,"start":"${fill('a/', n * 0.7)}b"}`)),
  textShape(continueToken, 'deep', (n) => base64Url(fill('[', n * 0.7))),
  textShape(continueToken, 'invalid base64', (n) => `${fill('a', n)}!`),
  textShape(resourceVersion, 'zeros', (n) => fill('0', n)),
  textShape(resourceVersion, 'zeros and a letter', (n) => `${fill('0', n)}x`),
  textShape(resourceVersion, 'digits', (n) => fill('9', n)),
]
