import { Link } from '@tanstack/react-router'
import { PageHead } from '../ui/panel'
import { ProblemNote } from '../ui/problem-note'

export const ScreenError = ({ error, reset }: { readonly error: unknown; readonly reset: () => void }) => (
  <ProblemNote error={error} retry={reset} />
)

export const NotFound = () => (
  <PageHead
    title="There is nothing here"
    lead={
      <Link to="/" className="underline">
        Back to the overview
      </Link>
    }
  />
)
