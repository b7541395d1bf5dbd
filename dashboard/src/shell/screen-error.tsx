import { Link } from '@tanstack/react-router'
import { BareFrame } from './bare-frame'
import { ProblemNote } from '../ui/problem-note'

export const ScreenError = ({ error, reset }: { readonly error: unknown; readonly reset: () => void }) => (
  <ProblemNote error={error} retry={reset} />
)

export const NotFound = () => (
  <BareFrame title="There is nothing here">
    <Link to="/" className="text-sm underline">
      Back to the overview
    </Link>
  </BareFrame>
)
