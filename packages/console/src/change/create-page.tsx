// The page that creates an object: a first text from the required fields of the schema, an example, or any YAML.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { apiVersionOf, type DynamicObject, type ServedResource } from '@cluster-apiserver/client/browser.js'
import { useEffect, useState } from 'preact/hooks'
import type { KindSchema } from '../editor/kind-schema.js'
import type { Problem } from '../editor/problem-lines.js'
import type { Path } from '../editor/scan-yaml.js'
import { SchemaPanel, useKindSchema } from '../editor/schema-panel.js'
import { YamlEditor } from '../editor/yaml-editor.js'
import { DiffView } from '../object/diff-view.js'
import { withoutManagedFields } from '../object/object-context.js'
import { lineText, yamlLines } from '../object/yaml-lines.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { showNotice } from '../shell/notices.js'
import { objectRoute } from '../shell/route.js'
import { fieldManager, yamlText } from './object-changes.js'
import { messageOf, problemsOf } from './send-change.js'

interface CreatePageProps {
  readonly resource: ServedResource
  readonly namespace: string
}

interface Result {
  readonly preview?: { readonly before: readonly string[]; readonly after: readonly string[] }
  readonly refused?: { readonly error: unknown; readonly title: string }
}

const noProblems: readonly Problem[] = []

export function CreatePage({ resource, namespace }: CreatePageProps) {
  const session = useSession()
  const schema = useKindSchema(resource)
  const [first] = useState(() => yamlText(firstObject(resource, namespace, undefined)))
  const [text, setText] = useState(first)
  const [path, setPath] = useState<Path>([])
  const [problems, setProblems] = useState(noProblems)
  const [{ preview, refused }, setResult] = useState<Result>({})
  useEffect(() => {
    const loaded = schema.value?.schema
    if (loaded !== undefined) setText((current) => (current === first ? yamlText(firstObject(resource, namespace, loaded)) : current))
  }, [schema.value])

  const send = async (dryRun: boolean): Promise<void> => {
    setProblems(noProblems)
    try {
      const object = readYaml(text).value as unknown as DynamicObject
      const target = resource.namespaced ? (object?.metadata?.namespace ?? namespace) : undefined
      const collection = session.client.collection<DynamicObject>(resource, target === '' ? 'default' : target)
      const created = await collection.create(object, { dryRun, fieldManager, fieldValidation: 'Strict' })
      if (dryRun) {
        setResult({ preview: { before: linesOf(object), after: linesOf(withoutManagedFields(created)) } })
        return
      }
      const { name = '', namespace: inside, uid = '' } = created.metadata ?? {}
      showNotice(`${resource.kind} ${name} created`, {
        label: 'Undo',
        run: () => {
          collection.delete(name, { preconditions: { uid } }).then(
            () => showNotice(`${resource.kind} ${name} deleted again`),
            (thrown: unknown) => showNotice(`${resource.kind} ${name} cannot be deleted: ${messageOf(thrown)}`),
          )
        },
      })
      location.hash = objectRoute(resource, inside, name)
    } catch (thrown) {
      setProblems(problemsOf(thrown, text))
      setResult({ refused: { error: thrown, title: dryRun ? 'The server would refuse the object' : 'The server refused the object' } })
    }
  }
  return (
    <>
      <header class="page-head">
        <h1>New {resource.kind}</h1>
      </header>
      <div class="tools">
        <button type="button" onClick={() => void send(true)}>
          Preview
        </button>
        <button type="button" class="primary" onClick={() => void send(false)}>
          Create
        </button>
      </div>
      <div class="edit-result" role="status">
        {refused && <ErrorPanel {...refused} />}
        {preview && (
          <>
            <h2>Preview</h2>
            <DiffView {...preview} label="What the server adds" />
          </>
        )}
      </div>
      <div class="edit-columns">
        <YamlEditor
          label={`New ${resource.kind} as YAML`}
          text={text}
          onText={setText}
          onField={setPath}
          schema={schema.value?.schema}
          problems={problems}
        />
        <SchemaPanel loaded={schema} path={path} />
      </div>
    </>
  )
}

const linesOf = (object: DynamicObject): readonly string[] => yamlLines(object as unknown as Json).map(lineText)

/** Required fields with empty values, and a name to replace. */
function firstObject(resource: ServedResource, namespace: string, schema: KindSchema | undefined): DynamicObject {
  const { group, version, kind, namespaced } = resource
  const required = schema?.skeleton()
  const spec = schema?.membersAt([]).some(({ name }) => name === 'spec') ? { spec: schema.skeleton(['spec']) } : {}
  return {
    ...(typeof required === 'object' ? required : {}),
    apiVersion: apiVersionOf(group, version),
    kind,
    metadata: { name: 'new', ...(namespaced ? { namespace: namespace === '' ? 'default' : namespace } : {}) },
    ...spec,
  } as DynamicObject
}
