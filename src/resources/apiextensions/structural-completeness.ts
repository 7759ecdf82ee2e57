// Every member that a choice narrows must exist outside of it: otherwise it would be pruned before anybody looks at it.

import { type FieldError, required } from '../../api/field-error.js'
import { itemSchema, type JsonSchema, schemasOf } from './json-schema.js'

/** A place in the shape, and the place in a choice that speaks of it. */
interface Places {
  readonly shape: string
  readonly choice: string
}

/** Only the choices at the root are looked into, as it has always been. */
export const validateCompleteness = (schema: JsonSchema, path: string): readonly FieldError[] =>
  validateChoices(schema, schema, { shape: path, choice: path })

function validateChoices(choice: JsonSchema, shape: JsonSchema, places: Places): readonly FieldError[] {
  const at = (name: string): Places => ({ shape: places.shape, choice: `${places.choice}.${name}` })
  return [
    ...(choice.not === undefined ? [] : validateNested(choice.not, shape, at('not'))),
    ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
      (choice[name] ?? []).flatMap((nested, i) => validateNested(nested, shape, at(`${name}[${i}]`))),
    ),
  ]
}

function validateNested(choice: JsonSchema, shape: JsonSchema | undefined, places: Places): readonly FieldError[] {
  if (shape === undefined) return [required(places.shape, `because it is defined in ${places.choice}`)]
  const below = (name: string): Places => ({ shape: `${places.shape}.${name}`, choice: `${places.choice}.${name}` })
  const items = itemSchema(choice)
  return [
    ...validateChoices(choice, shape, places),
    ...(items === undefined ? [] : validateNested(items, itemSchema(shape), below('items'))),
    ...schemasOf(choice.properties).flatMap(([name, property]) =>
      validateNested(property, shape.properties?.[name], below(`properties[${name}]`)),
    ),
  ]
}
