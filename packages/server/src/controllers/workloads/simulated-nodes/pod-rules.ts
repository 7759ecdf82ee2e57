// Rules of one pod: rules of the file, then rules of its annotation.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { parsePodRules, type Rule } from './behaviour.js'
import { annotationsOf } from './node-template.js'

interface PodRules {
  readonly rules: readonly Rule[]
  /** Problem of the annotation, which then has no effect. */
  readonly problem?: string
}

/** Longer annotations and longer expansions of aliases block the event loop while they are parsed. */
const maxCharacters = 16 << 10

/** Parsed annotations by their text. */
const parsed = new RecentMap<string, PodRules>(256)

/** Without rules if the annotation is not valid. */
function parseAnnotation(text: string): PodRules {
  if (text.length > maxCharacters) return { rules: [], problem: `must have at most ${maxCharacters} characters` }
  try {
    return { rules: parsePodRules(readYaml(text, maxCharacters).value) }
  } catch (thrown) {
    return { rules: [], problem: (thrown as Error).message }
  }
}

export function podRulesOf({ metadata }: Pod, fileRules: readonly Rule[], identity: Identity): PodRules {
  const name = annotationsOf(identity).behaviour
  const text = metadata?.annotations?.[name]
  if (text === undefined) return { rules: fileRules }
  const found = parsed.get(text) ?? parseAnnotation(text)
  if (text.length <= maxCharacters) parsed.set(text, found)
  const { rules, problem } = found
  return {
    rules: [...fileRules, ...rules],
    ...(problem === undefined ? {} : { problem: `annotation ${name}: ${shorten(problem, maxProblem)}` }),
  }
}

/** Maximum length of a problem in an event. */
const maxProblem = 500
