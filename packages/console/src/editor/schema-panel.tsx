// Explains the field at the cursor of an editor: type, default, enum, limits and validation rules of its schema.

import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { type Loaded, useLoaded } from '../ui/hooks.js'
import { KindSchema } from './kind-schema.js'
import type { Path } from './scan-yaml.js'

/** The value has no schema if the server describes none. */
export type LoadedSchema = Loaded<{ readonly schema: KindSchema | undefined }>

export function useKindSchema(resource: ServedResource): LoadedSchema {
  const session = useSession()
  return useLoaded(async (signal) => ({ schema: await KindSchema.load(session, resource, signal) }), [])
}

interface SchemaPanelProps {
  readonly loaded: LoadedSchema
  readonly path: Path
}

export const SchemaPanel = ({ loaded: { value, error }, path }: SchemaPanelProps) => (
  <aside class="schema-panel" aria-label="Field at the cursor" tabIndex={0}>
    {error !== undefined && <ErrorPanel error={error} title="The schema cannot be read" />}
    {value === undefined && error === undefined && <p class="empty">The schema is loading…</p>}
    {value && <Field schema={value.schema} path={path} />}
  </aside>
)

function Field({ schema, path }: { readonly schema: KindSchema | undefined; readonly path: Path }) {
  const found = schema?.explain(path)
  if (schema === undefined || found === undefined)
    return (
      <p class="empty">{schema === undefined ? 'The server describes no schema of this kind.' : 'The schema does not have this field.'}</p>
    )
  return (
    <>
      <h2>{path.length === 0 ? 'Object' : path.map((step) => (typeof step === 'number' ? `[${step}]` : step)).join('.')}</h2>
      <p>
        <code>{found.type}</code>
      </p>
      {found.facts.map(([name, text]) => (
        <p key={`${name} ${text}`}>
          <b>{name}: </b>
          <code>{text}</code>
        </p>
      ))}
      <p class="description">{found.description}</p>
      <ul class="members">
        {schema.membersAt(path).map(({ name, type, isRequired }) => (
          <li key={name}>
            {name}
            <small>
              {' '}
              {type}
              {isRequired && ' · required'}
            </small>
          </li>
        ))}
      </ul>
    </>
  )
}
