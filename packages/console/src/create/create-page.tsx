// The page that creates an object: a form made of the schema and the YAML next to it, in step, beginning with an example.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import type { Collection, DynamicObject, ServedResource } from '@cluster-apiserver/client/browser.js'
import { useMemo, useState } from 'preact/hooks'
import { fieldManager } from '../change/object-changes.js'
import { problemsOf } from '../change/send-change.js'
import { ExplainedEditor } from '../editor/explained-editor.js'
import type { KindSchema } from '../editor/kind-schema.js'
import type { Problem } from '../editor/problem-lines.js'
import { type LoadedSchema, useKindSchema } from '../editor/schema-panel.js'
import { DiffView } from '../object/diff-view.js'
import { withoutManagedFields } from '../object/object-context.js'
import { lineText, yamlLines } from '../object/yaml-lines.js'
import { PolicyDenial } from '../policies/policy-denial.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { showNotice } from '../shell/notices.js'
import { objectRoute } from '../shell/route.js'
import { type Example, examplesOf } from './examples.js'
import { ObjectForm } from './object-form.js'

/** Longer texts have no form: it would be drawn anew at each key. */
const maxFormCharacters = 100_000

interface CreatePageProps {
  readonly resource: ServedResource
  readonly namespace: string
}

export function CreatePage({ resource, namespace }: CreatePageProps) {
  const loaded = useKindSchema(resource)
  const { value, error } = loaded
  return (
    <>
      <header class="page-head">
        <h1>New {resource.kind}</h1>
      </header>
      {(value !== undefined || error !== undefined) && <NewObject resource={resource} namespace={namespace} loaded={loaded} />}
    </>
  )
}

interface Sent {
  readonly text: string
  readonly isDryRun: boolean
  readonly object?: unknown
  readonly created?: DynamicObject
  readonly error?: unknown
}

function NewObject({ resource, namespace, loaded }: CreatePageProps & { readonly loaded: LoadedSchema }) {
  const session = useSession()
  const schema = loaded.value?.schema
  const examples = useMemo(() => examplesOf(resource, namespace, schema), [])
  const [text, setText] = useState(() => textOf(examples[0]?.object))
  const [problems, setProblems] = useState<readonly Problem[]>([])
  const [sent, setSent] = useState<Sent>()
  const change = (next: string): void => {
    setText(next)
    setProblems([])
  }

  const send = async (isDryRun: boolean): Promise<void> => {
    setProblems([])
    try {
      const object = readYaml(text).value as unknown as DynamicObject
      const target = resource.namespaced ? (object?.metadata?.namespace ?? namespace) : undefined
      const collection = session.client.collection<DynamicObject>(resource, target === '' ? 'default' : target)
      const created = await collection.create(object, { dryRun: isDryRun, fieldManager, fieldValidation: 'Strict' })
      setSent({ isDryRun, text, object, created })
      if (isDryRun) return
      offerUndo(collection, created)
      location.hash = objectRoute(resource, created.metadata?.namespace, created.metadata?.name ?? '')
    } catch (thrown) {
      setProblems(problemsOf(thrown, text))
      setSent({ isDryRun, text, error: thrown })
    }
  }
  return (
    <>
      <div class="tools">
        <ExampleChoice examples={examples} onChoose={({ object }) => change(textOf(object))} />
        <button type="button" onClick={() => void send(true)}>
          Preview
        </button>
        <button type="button" class="primary" onClick={() => void send(false)}>
          Create
        </button>
      </div>
      <div class="edit-result" role="status">
        {sent && <Result sent={sent} />}
      </div>
      <div class="create-columns">
        <FormOf text={text} schema={schema} onText={change} />
        <ExplainedEditor label={`New ${resource.kind} as YAML`} text={text} onText={change} problems={problems} loaded={loaded} />
      </div>
    </>
  )
}

interface ExampleChoiceProps {
  readonly examples: readonly Example[]
  readonly onChoose: (example: Example) => void
}

function ExampleChoice({ examples, onChoose }: ExampleChoiceProps) {
  const [title, setTitle] = useState(examples[0]?.title ?? '')
  return (
    <label class="check">
      Example
      <select
        value={title}
        onChange={({ currentTarget }) => {
          setTitle(currentTarget.value)
          const chosen = examples.find((example) => example.title === currentTarget.value)
          if (chosen !== undefined) onChoose(chosen)
        }}
      >
        {examples.map((example) => (
          <option key={example.title} value={example.title}>
            {example.title}
          </option>
        ))}
      </select>
    </label>
  )
}

interface FormOfProps {
  readonly text: string
  readonly schema: KindSchema | undefined
  readonly onText: (text: string) => void
}

function FormOf({ text, schema, onText }: FormOfProps) {
  const object = useMemo(() => (text.length > maxFormCharacters ? undefined : readObject(text)), [text])
  if (schema === undefined) return <p class="empty">The server describes no schema of this kind: write the YAML.</p>
  if (object === undefined)
    return <p class="empty">The form shows the object again when the text is the YAML of an object of at most 100 kB.</p>
  return <ObjectForm schema={schema} object={object} onChange={(changed) => onText(writeYaml(changed as Json))} />
}

function Result({ sent: { isDryRun, text, object, created, error } }: { readonly sent: Sent }) {
  if (error !== undefined)
    return (
      <>
        <ErrorPanel error={error} title={isDryRun ? 'The server would refuse the object' : 'The server refused the object'} />
        <PolicyDenial error={error} object={text} operation="CREATE" />
      </>
    )
  if (!isDryRun || created === undefined) return null
  const linesOf = (value: unknown): readonly string[] => yamlLines(value as Json).map(lineText)
  return (
    <>
      <h2>Preview</h2>
      <DiffView before={linesOf(object)} after={linesOf(withoutManagedFields(created))} label="What the server adds" />
    </>
  )
}

function offerUndo(collection: Collection, { kind, metadata }: DynamicObject): void {
  const { name = '', uid = '' } = metadata ?? {}
  const title = `${kind ?? ''} ${name}`
  showNotice(`${title} created`, {
    label: 'Undo',
    run: () => {
      collection.delete(name, { preconditions: { uid } }).then(
        () => showNotice(`${title} deleted again`),
        (thrown: unknown) => showNotice(`${title} cannot be deleted: ${errorMessage(thrown)}`),
      )
    },
  })
}

const textOf = (object: DynamicObject | undefined): string => (object === undefined ? '' : writeYaml(object as unknown as Json))

/** Undefined if the text is not the YAML of an object. */
function readObject(text: string): object | undefined {
  try {
    const { value } = readYaml(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
