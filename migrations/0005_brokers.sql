CREATE TABLE "postrider"."dead_letters" (
	"action_id" uuid PRIMARY KEY NOT NULL,
	"failed_at" timestamp with time zone NOT NULL,
	"queued_at" timestamp with time zone NOT NULL,
	"published_at" timestamp with time zone
);

CREATE TABLE "postrider"."published_hints" (
	"action_id" uuid PRIMARY KEY NOT NULL,
	"lane_id" uuid NOT NULL,
	"run_at" timestamp with time zone NOT NULL,
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "postrider"."published_hints_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"queued_at" timestamp with time zone NOT NULL,
	"published_at" timestamp with time zone,
	"job_id" text,
	CONSTRAINT "published_hints_job" CHECK (published_at is null or job_id is not null)
);

CREATE INDEX "published_hints_queued" ON "postrider"."published_hints" USING btree ("queued_at");