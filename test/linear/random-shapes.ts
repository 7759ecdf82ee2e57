// Random inputs (shapes) for parsers: fragments of the syntax, combined and repeated at random from a seed.

import { type Random, randomFrom } from '../kit/seeded-random.js'
import { decode } from './body-shapes.js'
import { accept, fieldSelector, labelSelector, mediaType, query, type TextSubject, textShape } from './header-shapes.js'
import { fill, maxBodyBytes, type Shape } from './shape.js'

/** Syntax that one parser reads. */
interface Language {
  readonly subject: TextSubject
  readonly fragments: readonly string[]
}

const bodyOf = (format: 'json' | 'yaml'): TextSubject => ({
  subject: format === 'json' ? 'JSON' : 'YAML',
  read: (text) => decode(format, new TextEncoder().encode(text)),
  maxBytes: maxBodyBytes,
})

const fragmentsOf = (...fragments: readonly string[]): readonly string[] => fragments

const languages: readonly Language[] = [
  {
    subject: bodyOf('json'),
    fragments: fragmentsOf(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"metadata":',
      '"labels":',
      '"k":"v"',
      '1',
      '-',
      '0',
      'e9',
      '.5',
      'true',
      'null',
      ' ',
      '"',
      '\\"',
      '\\u00e9',
      'é',
      '😀',
    ),
  },
  {
    subject: bodyOf('yaml'),
    fragments: fragmentsOf(
      'a: ',
      'b',
      '- ',
      '\n',
      ' ',
      '  ',
      '\t',
      '{',
      '}',
      '[',
      ']',
      ',',
      '"',
      "'",
      '#',
      ' #',
      '&a ',
      '*a',
      '? ',
      ': ',
      ':',
      '|\n',
      '>\n',
      '<<: ',
      '!!str ',
      '!',
      '%',
      '---\n',
      '...\n',
      '1',
      '_',
      '.',
      '-',
      '~',
      '\\',
      'é',
      '\u2028',
      '\r',
    ),
  },
  { subject: accept, fragments: fragmentsOf('a', '/', '*', ',', ';', 'q=', '0', '.', '=', ' ', '"', 'e', 'v', '\t') },
  { subject: mediaType, fragments: fragmentsOf('a', '/', ';', '=', '"', '\\', ' ', ',', 'charset', '\t') },
  { subject: query, fragments: fragmentsOf('a', '=', '&', ';', '%', '%4', '%41', '%ff', '+', 'é') },
  {
    subject: labelSelector,
    fragments: fragmentsOf('a', '=', '!', '==', '!=', ' in ', ' notin ', '(', ')', ',', '<', '>', '1', ' ', '/', '.', '-', 'é'),
  },
  { subject: fieldSelector, fragments: fragmentsOf('a', '=', '!', '==', '!=', ',', '\\', '.', ' ', 'é') },
]

/** `head`, then `unit` repeatedly, then `tail`. */
export interface Recipe {
  readonly subject: string
  readonly head: string
  readonly unit: string
  readonly tail: string
}

const mix = (random: Random, fragments: readonly string[], maxFragments: number): string =>
  Array.from({ length: random.below(maxFragments + 1) }, () => random.pick(fragments)).join('')

function randomRecipe(random: Random, { subject, fragments }: Language): Recipe {
  const unit = mix(random, fragments, 5) || random.pick(fragments)
  return { subject: subject.subject, head: mix(random, fragments, 4), unit, tail: mix(random, fragments, 3) }
}

export function shapeOf(recipe: Recipe): Shape {
  const { head, unit, tail } = recipe
  const language = languages.find(({ subject }) => subject.subject === recipe.subject)
  if (language === undefined) throw new Error(`unknown language ${recipe.subject}`)
  return textShape(language.subject, `random ${JSON.stringify(recipe)}`, (bytes) => head + fill(unit, bytes) + tail)
}

/** `count`: number of shapes per language. */
export function randomShapes(seed: number, count: number): readonly Shape[] {
  const random = randomFrom(seed)
  return languages.flatMap((language) => Array.from({ length: count }, () => shapeOf(randomRecipe(random, language))))
}
