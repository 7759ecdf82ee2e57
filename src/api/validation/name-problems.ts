// The rules for names of objects, which also judge the prefix from which a name is generated.

import { dns1035Label, dnsLabel, dnsSubdomain, noProblems, type TextRule } from './text-rules.js'

/** What is wrong with a name; `prefix` is true for generateName. */
export type NameRule = (name: string, prefix: boolean) => readonly string[]

/** A generated name goes on after its prefix, so that a dash at the end of the prefix will not end the name. */
const withoutLastDash = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)

const nameRule =
  (rule: TextRule): NameRule =>
  (name, prefix) =>
    rule(prefix ? withoutLastDash(name) : name)

export const dnsSubdomainProblems: NameRule = nameRule(dnsSubdomain)
export const dnsLabelProblems: NameRule = nameRule(dnsLabel)
export const dns1035LabelProblems: NameRule = nameRule(dns1035Label)

const path = /^[^/%]*$/

/** The least that every name must satisfy: it stands in a path as one segment. */
export const pathSegmentProblems: NameRule = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  if (path.test(name)) return noProblems
  return ['/', '%'].filter((character) => name.includes(character)).map((character) => `may not contain '${character}'`)
}
