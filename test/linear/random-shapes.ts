// Shapes that nobody thought of: a few fragments of a language, repeated. A seed gives the same ones again.

import { type Random, randomFrom } from '../kit/seeded-random.js'
import { decode } from './body-shapes.js'
import { accept, fieldSelector, labelSelector, mediaType, query, type TextSubject, textShape } from './header-shapes.js'
import { fill, largestBody, type Shape } from './shape.js'

interface Language {
  readonly subject: TextSubject
  readonly fragments: readonly string[]
}

const bodyOf = (format: 'json' | 'yaml'): TextSubject => ({
  subject: format === 'json' ? 'JSON' : 'YAML',
  read: (text) => decode(format, new TextEncoder().encode(text)),
  maxBytes: largestBody,
})

const words = (...fragments: readonly string[]): readonly string[] => fragments

export const languages: readonly Language[] = [
  {
    subject: bodyOf('json'),
    fragments: words(
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
    fragments: words(
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
  { subject: accept, fragments: words('a', '/', '*', ',', ';', 'q=', '0', '.', '=', ' ', '"', 'e', 'v', '\t') },
  { subject: mediaType, fragments: words('a', '/', ';', '=', '"', '\\', ' ', ',', 'charset', '\t') },
  { subject: query, fragments: words('a', '=', '&', ';', '%', '%4', '%41', '%ff', '+', 'é') },
  {
    subject: labelSelector,
    fragments: words('a', '=', '!', '==', '!=', ' in ', ' notin ', '(', ')', ',', '<', '>', '1', ' ', '/', '.', '-', 'é'),
  },
  { subject: fieldSelector, fragments: words('a', '=', '!', '==', '!=', ',', '\\', '.', ' ', 'é') },
]

/** A text that is `head`, then `unit` again and again, then `tail`. */
export interface Recipe {
  readonly subject: string
  readonly head: string
  readonly unit: string
  readonly tail: string
}

const mix = (random: Random, fragments: readonly string[], most: number): string =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(fragments)).join('')

function randomRecipe(random: Random, { subject, fragments }: Language): Recipe {
  const unit = mix(random, fragments, 5) || random.pick(fragments)
  return { subject: subject.subject, head: mix(random, fragments, 4), unit, tail: mix(random, fragments, 3) }
}

export function shapeOf(recipe: Recipe): Shape {
  const { head, unit, tail } = recipe
  const language = languages.find(({ subject }) => subject.subject === recipe.subject)
  if (language === undefined) throw new Error(`no language is called ${recipe.subject}`)
  return textShape(language.subject, `random ${JSON.stringify(recipe)}`, (bytes) => head + fill(unit, bytes) + tail)
}

/** So many shapes for each language. */
export function randomShapes(seed: number, count: number): readonly Shape[] {
  const random = randomFrom(seed)
  return languages.flatMap((language) => Array.from({ length: count }, () => shapeOf(randomRecipe(random, language))))
}
