// Explains the field at the cursor: type, default, enum, limits and validation rules of its schema.

import { element, replaceChildren } from '../dom/element.js'
import type { ObjectContext } from '../object/object-context.js'
import { errorPanel } from '../shell/legacy.js'
import { KindSchema } from './kind-schema.js'

type Path = readonly (string | number)[]

/** Explains the field at the cursor of an editor, as soon as the schema is loaded. */
export class SchemaPanel {
  readonly root = element(
    'aside',
    { class: 'schema-panel', 'aria-label': 'Field at the cursor' },
    element('p', { class: 'empty' }, 'The schema is loading…'),
  )
  private path: Path = []
  private loaded: { readonly schema: KindSchema | undefined } | undefined

  constructor(
    { session, resource, signal }: Pick<ObjectContext, 'session' | 'resource' | 'signal'>,
    onLoad: (schema: KindSchema | undefined) => void,
  ) {
    KindSchema.load(session, resource, signal).then(
      (schema) => {
        this.loaded = { schema }
        onLoad(schema)
        this.draw()
      },
      (thrown: unknown) => {
        if (!signal.aborted) replaceChildren(this.root, errorPanel(thrown, 'The schema cannot be read'))
      },
    )
  }

  show(path: Path): void {
    this.path = path
    this.draw()
  }

  private draw(): void {
    if (this.loaded !== undefined) showField(this.root, this.loaded.schema, this.path)
  }
}

function showField(host: HTMLElement, schema: KindSchema | undefined, path: readonly (string | number)[]): void {
  const found = schema?.explain(path)
  if (schema === undefined || found === undefined) {
    replaceChildren(
      host,
      element(
        'p',
        { class: 'empty' },
        schema === undefined ? 'The server describes no schema of this kind.' : 'The schema does not have this field.',
      ),
    )
    return
  }
  const members = schema.membersAt(path)
  replaceChildren(
    host,
    element('h2', {}, path.length === 0 ? 'Object' : path.map((step) => (typeof step === 'number' ? `[${step}]` : step)).join('.')),
    element('p', {}, element('code', {}, found.type)),
    ...found.facts.map(([name, text]) => element('p', {}, element('b', {}, `${name}: `), element('code', {}, text))),
    element('p', { class: 'description' }, found.description),
    members.length > 0 &&
      element(
        'ul',
        { class: 'members' },
        ...members.map(({ name, type, isRequired }) =>
          element('li', {}, name, element('small', {}, ` ${type}${isRequired ? ' · required' : ''}`)),
        ),
      ),
  )
}
