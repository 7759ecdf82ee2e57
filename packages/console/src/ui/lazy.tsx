// Components with large libraries, which are loaded when they are first shown.

import type { FunctionComponent } from 'preact'
import { ErrorPanel } from '../shell/error-panel.js'
import { useLoaded } from './hooks.js'

export function lazy<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  let Shown: FunctionComponent<Props> | undefined
  return (props) => {
    const { error } = useLoaded(async () => {
      Shown ??= await load()
      return Shown
    }, [])
    if (error !== undefined) return <ErrorPanel error={error} title="A part of the page cannot be loaded" />
    return Shown === undefined ? null : <Shown {...(props as Props)} />
  }
}
